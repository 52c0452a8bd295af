"""What the driver's JVM says of itself."""

from types import SimpleNamespace
from typing import Any

from located_config.extension import VARIABLE
from pipeline.driver.session import _for_workers, heap_bytes, jvm_pid, known_keys


def spark() -> Any:
    runtime = SimpleNamespace(getRuntime=lambda: SimpleNamespace(maxMemory=lambda: 5000))
    entries = [SimpleNamespace(key=lambda: "spark.a"), SimpleNamespace(key=lambda: "spark.b")]
    registered = SimpleNamespace(listAllEntries=lambda: SimpleNamespace(toArray=lambda: entries))
    process = SimpleNamespace(current=lambda: SimpleNamespace(pid=lambda: 77))
    config = SimpleNamespace(ConfigEntry=registered)
    apache = SimpleNamespace(spark=SimpleNamespace(internal=SimpleNamespace(config=config)))
    java = SimpleNamespace(lang=SimpleNamespace(ProcessHandle=process, Runtime=runtime))
    return SimpleNamespace(_jvm=SimpleNamespace(org=SimpleNamespace(apache=apache), java=java))


def test_the_jvm_says_who_it_is() -> None:
    assert jvm_pid(spark()) == 77


def test_the_jvm_says_its_heap_and_spark_its_settings() -> None:
    assert heap_bytes(spark()) == 5000
    assert known_keys(spark()) == {"spark.a", "spark.b"}


def test_workers_are_told_where_a_job_of_an_extension_is() -> None:
    assert _for_workers({}) == _for_workers({VARIABLE: ""}) == {}
    assert _for_workers({VARIABLE: "/x/my_job.py"}) == {"spark.executorEnv.ENRICHMENT_EXTEND": "/x/my_job.py"}
