"""Spark's settings: those of a memory limit, and what is shown of them."""

import pytest

from pipeline.config.pipeline_config import MIB
from pipeline.driver.spark_conf import Given, effective_spark
from pipeline.errors import RefusedError
from pipeline.memory.division import derive
from pipeline.memory.spark import place_of, require_agreement, slots_of, spark_settings, spark_size
from tests.unit.pipeline.making import make_config

GIB = 1024 * MIB
OTHERS = ("spark://a:7077", "yarn", "local-cluster[2,3,512]")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("1g", GIB), ("512m", 512 * MIB), ("512", 512 * MIB), ("2048k", 2 * MIB), ("1GB", GIB), ("7b", 7)),
        *((text, None) for text in ("", "much", "1.5g", "-1g", "1gib")),
    ],
)
def test_sizes_as_spark_writes_them(text: str, size: int | None) -> None:
    assert spark_size(text) == size


@pytest.mark.parametrize(
    ("master", "slots"),
    [("local", 1), ("local[4]", 4), ("local[4,2]", 4), ("local[*]", None), *((other, None) for other in OTHERS)],
)
def test_slots_of_a_master(master: str, slots: int | None) -> None:
    assert slots_of(master) == slots
    assert place_of(master) == ("executor" if master in OTHERS else "local")


def test_a_local_spark_gets_its_heap_and_its_slots() -> None:
    plan = derive(4 * GIB, 4, make_config())
    assert spark_settings(plan, make_config()) == {
        "spark.master": "local[4]",
        "spark.driver.memory": f"{plan.heap // MIB}m",
    }


def test_an_executors_parts_are_together_within_the_limit() -> None:
    """Python's share is in the overhead, which is what a cluster's manager adds to the heap."""
    plan = derive(4 * GIB, 4, make_config(), place="executor")
    settings = spark_settings(plan, make_config())
    assert settings["spark.executor.cores"] == "4"
    sizes = [spark_size(settings[f"spark.executor.{name}"]) or 0 for name in ("memory", "memoryOverhead")]
    assert 0.95 * 4 * GIB < sum(sizes) <= 4 * GIB
    assert "spark.executor.pyspark.memory" not in settings


def test_what_is_told_elsewhere_must_not_take_more() -> None:
    config = make_config()
    plan = derive(4 * GIB, 4, config)
    require_agreement(plan, {"spark.driver.memory": Given(f"{plan.heap // MIB}m", "x")}, config)
    require_agreement(plan, {"spark.driver.memory": Given("300m", "x"), "spark.ui.port": Given("1", "x")}, config)
    for value, message in (
        ("3g", f"is 3g (conf:3), and the limit leaves {plan.heap // MIB}m"),
        ("lots", "'lots' (conf:3)"),
    ):
        with pytest.raises(RefusedError) as caught:
            require_agreement(plan, {"spark.driver.memory": Given(value, "conf:3")}, config)
        assert message in str(caught.value)


def test_an_executor_has_the_slots_that_are_said() -> None:
    config = make_config()
    plan = derive(4 * GIB, 4, config, place="executor")
    require_agreement(plan, {"spark.executor.cores": Given("4", "x")}, config)
    with pytest.raises(RefusedError, match=r"spark.executor.cores is 8 \(conf:2\), and --slots 4"):
        require_agreement(plan, {"spark.executor.cores": Given("8", "conf:2")}, config)


def test_settings_are_told_in_order_and_without_secrets() -> None:
    settings = effective_spark(
        [
            ("spark.master", "local[2]"),
            ("spark.hadoop.fs.s3a.secret.key", "hush"),
            ("spark.hadoop.fs.s3a.access.key", "hush"),
            ("spark.authenticate.secret", "hush"),
            ("spark.hadoop.fs.s3a.aws.credentials.provider", "a.Provider"),
            ("spark.driver.extraClassPath", "x" * 1000),
        ]
    )
    assert "hush" not in str(settings)
    assert list(settings) == sorted(settings)
    assert settings["spark.master"] == "local[2]"
    assert settings["spark.hadoop.fs.s3a.aws.credentials.provider"] == "a.Provider"
    assert len(str(settings["spark.driver.extraClassPath"])) < 300
