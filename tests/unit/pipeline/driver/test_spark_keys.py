import pytest

from pipeline.driver.spark_conf import PROTOCOL, Given, require_known, require_of_spark, require_protocol
from pipeline.errors import RefusedError

KNOWN = {"spark.executor.memoryOverhead", "spark.executor.memory", "spark.driver.memory", "spark.ui.enabled"}


def given(**settings: str) -> dict[str, Given]:
    return {key: Given(value, "conf:1") for key, value in settings.items()}


@pytest.mark.parametrize("key", sorted(PROTOCOL))
def test_what_the_job_depends_on_cannot_be_told_otherwise(key: str) -> None:
    needed, why = PROTOCOL[key]
    require_protocol(given(**{key: needed.upper()}))
    with pytest.raises(RefusedError) as caught:
        require_protocol(given(**{key: "other"}))
    assert str(caught.value) == f"{key} is other (conf:1), and the job needs {needed}: {why}"


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("spark.executor.memoryoverhead", "spark.executor.memoryOverhead"),
        ("spark.executor.memory_overhead", "spark.executor.memoryOverhead"),
        ("spark.driver.memmory", "spark.driver.memory"),
        ("driver.memory", "spark.driver.memory"),
        ("spark.Master", "spark.master"),
        ("spark.task.maxFailure", "spark.task.maxFailures"),
    ],
)
def test_a_misspelt_key_is_refused_with_the_near_miss(key: str, near: str) -> None:
    with pytest.raises(RefusedError) as caught:
        require_known(given(**{key: "1"}), KNOWN)
    assert str(caught.value) == f"{key} (conf:1): unknown to Spark, which would ignore it; did you mean {near!r}?"


@pytest.mark.parametrize(
    "key",
    [
        "spark.executor.memory",
        "spark.master",
        "spark.hadoop.fs.s3a.endpoint",
        "spark.kubernetes.namespace",
        "spark.executorEnv.TMPDIR",
        "spark.sql.streaming.checkpointFileManagerClass",
        "spark.driver.defaultJavaOptions",
    ],
)
def test_what_spark_reads_is_left_alone(key: str) -> None:
    assert require_known(given(**{key: "1"}), KNOWN) == []


def test_a_key_of_nobodys_is_told_and_not_refused() -> None:
    """A module that is not loaded yet may know it."""
    assert require_known(given(**{"spark.plugin.of.ours": "1"}), KNOWN) == ["spark.plugin.of.ours (conf:1)"]


@pytest.mark.parametrize("key", ["fetch.concurrency", "fetch.concurency", "mediawiki.endpoint", "checkpoint"])
def test_a_key_of_the_jobs_own_is_refused_with_its_place(key: str) -> None:
    with pytest.raises(RefusedError) as caught:
        require_of_spark(given(**{"spark.ui.enabled": "false", key: "5"}))
    assert str(caught.value) == f"{key} (conf:1): it is the job's, and belongs into the job's YAML"


@pytest.mark.parametrize("key", ["spark.metrics.conf", "spark.checkpoint.compress", "driver.memory"])
def test_a_key_of_sparks_is_left_to_spark(key: str) -> None:
    require_of_spark(given(**{key: "1"}))
