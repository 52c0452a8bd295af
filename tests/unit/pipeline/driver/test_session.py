"""What the driver's JVM says of itself."""

from types import SimpleNamespace
from typing import Any

import pytest

from located_config.extension import VARIABLE
from pipeline.driver.session import _for_workers, daemon_settings, heap_bytes, jvm_pid, known_keys
from pipeline.driver.spark_conf import Given


def running() -> Any:
    runtime = SimpleNamespace(getRuntime=lambda: SimpleNamespace(maxMemory=lambda: 5000))
    entries = (
        "[ConfigEntry(key=spark.a, defaultValue=1, doc=), ConfigEntry(key=spark.b, defaultValue=<undefined>, doc=)]"
    )
    registered = SimpleNamespace(listAllEntries=lambda: SimpleNamespace(toString=lambda: entries))
    process = SimpleNamespace(current=lambda: SimpleNamespace(pid=lambda: 77))
    config = SimpleNamespace(ConfigEntry=registered)
    apache = SimpleNamespace(spark=SimpleNamespace(internal=SimpleNamespace(config=config)))
    java = SimpleNamespace(lang=SimpleNamespace(ProcessHandle=process, Runtime=runtime))
    return SimpleNamespace(_jvm=SimpleNamespace(org=SimpleNamespace(apache=apache), java=java))


def test_the_jvm_says_who_it_is_its_heap_and_spark_its_settings() -> None:
    spark = running()
    assert (jvm_pid(spark), heap_bytes(spark), known_keys(spark)) == (77, 5000, {"spark.a", "spark.b"})


def test_workers_are_told_where_a_job_of_an_extension_is() -> None:
    assert _for_workers({}) == _for_workers({VARIABLE: ""}) == {}
    assert _for_workers({VARIABLE: "/x/my_job.py"}) == {"spark.executorEnv.ENRICHMENT_EXTEND": "/x/my_job.py"}


@pytest.mark.parametrize(
    ("given", "environment", "is_set"),
    [
        ({}, {}, True),
        ({"spark.master": "local[2]"}, {}, True),
        ({"spark.master": "local-cluster[1,2,1024]"}, {}, False),
        ({"spark.master": "spark://host:7077"}, {}, False),
        ({"spark.python.daemon.module": "own"}, {}, False),
        ({}, {"PYSPARK_GATEWAY_PORT": "1"}, False),
    ],
)
def test_the_daemon_loads_the_job_where_it_can(
    given: dict[str, str], environment: dict[str, str], *, is_set: bool
) -> None:
    settings = daemon_settings({key: Given(value, "here") for key, value in given.items()}, environment)
    assert settings == ({"spark.python.daemon.module": "pipeline.worker.daemon"} if is_set else {})
