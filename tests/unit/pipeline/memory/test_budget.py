"""Spark's settings: those of a memory limit, and what is shown of them."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.__main__ import main
from pipeline.config.pipeline_config import MIB
from pipeline.driver.spark_conf import Given, effective_spark
from pipeline.errors import RefusedError
from pipeline.memory.budget import budget, require_heap
from pipeline.memory.division import derive
from pipeline.memory.spark import place_of, require_agreement, slots_of, spark_settings, spark_size
from tests.unit.pipeline.least_config import write_config
from tests.unit.pipeline.making import make_config

GIB = 1024 * MIB
CLUSTER = {"spark.master": Given("spark://here:7077", "conf:1")}
OTHERS = ("spark://a:7077", "yarn", "local-cluster[2,3,512]")


def test_without_a_limit_nothing_is_derived() -> None:
    config = make_config()
    resolved = budget(config, CLUSTER)
    assert resolved.config is config
    assert (resolved.spark, resolved.plan, resolved.given) == ({}, None, CLUSTER)


def test_slots_alone_are_those_of_a_local_spark() -> None:
    local = {"spark.master": Given("local[4]", "conf:1")}
    assert budget(make_config(), local, slots=7).spark == {"spark.master": "local[7]"}
    assert budget(make_config(), {}, slots=7).spark == {"spark.master": "local[7]"}
    assert budget(make_config(), CLUSTER, slots=7).spark == {"spark.executor.cores": "7"}
    with pytest.raises(RefusedError, match=r"spark.executor.cores is 2 \(conf:2\), and --slots 7"):
        budget(make_config(), CLUSTER | {"spark.executor.cores": Given("2", "conf:2")}, slots=7)


def test_a_limit_takes_the_slots_from_the_master_where_it_says_them() -> None:
    resolved = budget(make_config(), {"spark.master": Given("local[3]", "conf:1")}, limit=4 * GIB)
    assert resolved.plan is not None
    assert resolved.plan.slots == 3
    assert resolved.config.fetch.max_in_flight_bytes == resolved.plan.in_flight
    assert resolved.config.claim_check.max_bytes == resolved.plan.body
    cores = CLUSTER | {"spark.executor.cores": Given("2", "conf:2")}
    of_cluster = budget(make_config(), cores, limit=4 * GIB).plan
    assert of_cluster is not None
    assert (of_cluster.slots, of_cluster.place) == (2, "executor")


@pytest.mark.parametrize("given", [{}, CLUSTER, {"spark.master": Given("local[*]", "conf:1")}])
def test_a_limit_needs_slots(given: dict[str, Given]) -> None:
    with pytest.raises(RefusedError, match=r"leaves it to the machine") as caught:
        budget(make_config(), given, limit=4 * GIB)
    assert "--slots" in str(caught.value.hint)


def test_less_that_is_told_elsewhere_stays() -> None:
    given = {"spark.driver.memory": Given("300m", "conf:1"), "spark.master": Given("local[2]", "conf:2")}
    assert budget(make_config(), given, limit=4 * GIB, slots=4).spark == {"spark.master": "local[4]"}


def test_a_heap_that_runs_already_is_measured() -> None:
    plan = derive(4 * GIB, 4, make_config())
    require_heap(plan, plan.heap)
    with pytest.raises(RefusedError, match="with a heap of up to 3072MiB") as caught:
        require_heap(plan, 3 * GIB)
    assert f"--driver-memory {plan.heap // MIB}m" in str(caught.value.hint)


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


@pytest.mark.parametrize("limit", ["4GiB", "4294967296"])
def test_it_prints_parts_and_settings(limit: str) -> None:
    result = CliRunner().invoke(main, ["memory", "--memory-limit", limit, "--slots", "4"])
    assert result.exit_code == 0
    assert result.stdout.startswith("4096 MiB for this process and its children, 4 slots, 1 of them for slow rounds\n")
    assert "fetch.max_in_flight_bytes: " in result.stdout
    assert "--conf spark.driver.memory=" in result.stdout


def test_a_cluster_gets_lines_for_spark_submit(tmp_path: Path) -> None:
    file = write_config(tmp_path, sink={"max.request.size": "20MiB"})
    arguments = ["--memory-limit", "8GiB", "--slots", "4", "--config", str(file), "--master", "spark://here:7077"]
    result = CliRunner().invoke(main, ["memory", *arguments])
    assert result.exit_code == 0
    assert result.stdout.startswith("8192 MiB for an executor")
    for key in ("spark.executor.memory", "spark.executor.memoryOverhead", "spark.driver.memoryOverhead"):
        assert f"--conf {key}=" in result.stdout


@pytest.mark.parametrize(
    ("limit", "message"), [("1GiB", "is too small for 4 slots: they take at least"), ("4gb", "write 4GB")]
)
def test_a_wrong_limit_is_exit_2(limit: str, message: str) -> None:
    result = CliRunner().invoke(main, ["memory", "--memory-limit", limit, "--slots", "4"])
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("master", [[], ["--master", "spark://master:7077"]])
def test_the_documents_show_what_it_prints(master: list[str]) -> None:
    result = CliRunner().invoke(main, ["memory", "--memory-limit", "4GiB", "--slots", "4", *master])
    printed = [line.rstrip() for line in result.stdout.splitlines()]
    shown = (Path(__file__).parents[4] / "docs" / "running.md").read_text()
    assert "\n".join(line for line in printed if "--conf" in line or not master) in shown


@pytest.mark.parametrize(
    ("master", "is_known"),
    [
        *((known, True) for known in ("local", "local[*]", "local-cluster[2,1,1024]", "yarn", "k8s://here:1")),
        *((unknown, False) for unknown in ("yran", "spark:", "localhost")),
    ],
)
def test_a_master_that_spark_does_not_know_is_refused(master: str, is_known: bool) -> None:
    result = CliRunner().invoke(main, ["memory", "--memory-limit", "4GiB", "--slots", "4", "--master", master])
    assert result.exit_code == (0 if is_known else 2)
    assert (f"--master {master}: not a master" in result.output) != is_known
