"""On a cluster a host clears what it keeps when it reads a partition that another one has read since."""

from typing import cast

import pyarrow as pa
import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch import kept_revisions
from pipeline.fetch.kept_revisions import KeptRevisions
from pipeline.records.record import SourcePartition
from pipeline.worker.one_host import ReadOn, files_after, on_one_host

FIRST, SECOND = SourcePartition("source", 0), SourcePartition("source", 1)


class Reports(list[ReadOn]):
    """In place of Spark's accumulator."""

    def add(self, read: list[ReadOn]) -> None:
        self += read


@pytest.fixture
def kept(keeping_config: PipelineConfig) -> KeptRevisions:
    kept = kept_revisions.kept_revisions(keeping_config)
    assert kept is not None
    kept.put("wiki", "7", 2, b"content", since=kept.now())
    return kept


@pytest.mark.parametrize(
    ("owned", "read", "stays"),
    [
        ([FIRST, SECOND], [FIRST], True),
        ([FIRST, SECOND], [FIRST, SECOND, FIRST], True),
        ([FIRST], [FIRST, SECOND], False),
        ([], [FIRST], False),
        ([], [], True),
    ],
    ids=["one of its own", "two of its own", "one of another host", "one of no host", "no event"],
)
def test_what_was_kept_stays_while_its_partitions_do(
    keeping_config: PipelineConfig,
    kept: KeptRevisions,
    owned: list[SourcePartition],
    read: list[SourcePartition],
    stays: bool,
) -> None:
    file_id = kept.file_id
    assert file_id is not None
    files = dict.fromkeys((FIRST, SECOND), "another") | dict.fromkeys(owned, file_id)
    reports = Reports()
    function = on_one_host(lambda batches: batches, keeping_config, files, cast("pa.Accumulator", reports))
    batches = [pa.RecordBatch.from_pydict({"topic": [topic], "partition": [number]}) for topic, number in read]
    assert list(function(iter(batches))) == batches
    assert (kept.get("wiki", "7", 2) is not None) == stays
    assert reports == [ReadOn(file_id, frozenset(read))]


@pytest.mark.parametrize(
    ("read", "after"),
    [
        ([], {FIRST: "a"}),
        ([ReadOn("a", frozenset({FIRST, SECOND}))], {FIRST: "a", SECOND: "a"}),
        ([ReadOn("b", frozenset({FIRST}))], {FIRST: "b"}),
        ([ReadOn("a", frozenset({FIRST})), ReadOn("b", frozenset({FIRST, SECOND}))], {SECOND: "b"}),
        ([ReadOn("a", frozenset({FIRST})), ReadOn("a", frozenset({FIRST}))], {FIRST: "a"}),
        ([ReadOn(None, frozenset({FIRST}))], {}),
    ],
    ids=[
        "nothing",
        "all on one",
        "it moves",
        "its pages are on two hosts",
        "on two workers of one",
        "where none can be",
    ],
)
def test_who_has_read_a_partition_last(read: list[ReadOn], after: dict[SourcePartition, str]) -> None:
    assert files_after({FIRST: "a"}, read) == after
