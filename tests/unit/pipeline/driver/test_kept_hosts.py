"""Which hosts may use what they keep: the driver's own at the position that it has read to, others by their files."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver.kept_hosts import KeptHosts
from pipeline.fetch import kept_revisions
from pipeline.records.record import SourcePartition
from pipeline.worker.one_host import ReadOn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AT_7, AT_9 = {SourcePartition("source", 0): 7}, {SourcePartition("source", 0): 9}


def spark(master: str) -> "SparkSession":
    context = SimpleNamespace(master=master, accumulator=lambda value, _param: SimpleNamespace(value=value))
    return cast("SparkSession", SimpleNamespace(sparkContext=context))


@pytest.mark.parametrize(
    ("began", "read_to", "begins", "stays"),
    [
        (AT_7, [], AT_7, True),
        (AT_7, [AT_9], AT_9, True),
        (AT_7, [AT_9], AT_7, False),
        (AT_7, [], AT_9, False),
        (None, [AT_7], AT_7, True),
        (None, [], None, False),
        (AT_7, [], None, False),
    ],
    ids=[
        "again before the first batch",
        "where it has read to",
        "at an earlier position",
        "at one that another host has read to",
        "a job that was new",
        "new once more",
        "a new job in its place",
    ],
)
def test_a_start_keeps_what_was_kept_up_to_its_position(
    keeping_config: PipelineConfig,
    began: dict[SourcePartition, int] | None,
    read_to: list[dict[SourcePartition, int]],
    begins: dict[SourcePartition, int] | None,
    stays: bool,
) -> None:
    kept = kept_revisions.kept_revisions(keeping_config)
    assert kept is not None
    hosts = KeptHosts(spark("local[2]"), keeping_config)
    hosts.start(lambda: began)
    kept.put("wiki", "7", 2, b"content", since=kept.now())
    for positions in read_to:
        hosts.committed(positions)
    KeptHosts(spark("local[2]"), keeping_config).start(lambda: begins)
    assert (kept.get("wiki", "7", 2) is not None) == stays


def test_on_a_cluster_tasks_look_and_slow_rounds_keep_nothing(keeping_config: PipelineConfig) -> None:
    hosts = KeptHosts(spark("spark://host:7077"), keeping_config)
    hosts.start(lambda: pytest.fail("there is no file of the driver's"))
    assert hosts.slow_lane().kept_bytes == 0
    function = cast("SimpleNamespace", hosts.function(iter))
    _, checkpoint, max_bytes, files, read = function.args
    assert (checkpoint, max_bytes, files) == (keeping_config.checkpoint, keeping_config.kept_bytes, {})
    read.value.append(ReadOn("a", frozenset(AT_7)))
    hosts.written()
    hosts.committed(AT_9)
    again = cast("SimpleNamespace", hosts.function(iter))
    assert again.args[3] == dict.fromkeys(AT_7, "a")
    assert again.args[4].value == [], "of this batch alone"


@pytest.mark.parametrize("master", ["local[2]", "spark://host:7077"])
def test_a_job_that_keeps_nothing_is_left_alone(keeping_config: PipelineConfig, master: str) -> None:
    hosts = KeptHosts(spark(master), kept_revisions.keeping_nothing(keeping_config))
    hosts.start(lambda: pytest.fail("it is not asked for"))
    assert hosts.function(iter) is iter
    hosts.written()
    hosts.committed(AT_7)
