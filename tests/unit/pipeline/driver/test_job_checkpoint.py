"""The position of a job, as its checkpoint has it, who has a checkpoint, and what earlier versions have left."""

import json
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JError

from pipeline.deferral.entry import Entry
from pipeline.deferral.fold import FencedError, fold
from pipeline.deferral.wire import parse
from pipeline.driver.identity import Identity, require_checkpoint, require_own
from pipeline.driver.job_checkpoint import (
    OWNER_FILE,
    CheckpointContent,
    Ownership,
    committed_offsets,
    read_content,
    replayed_from,
    watermark_ms,
    write_text,
)
from pipeline.errors import RefusedError
from pipeline.records.record import SourcePartition
from pipeline.state.state_mark import pinned
from tests.unit.pipeline.conftest import MakeConfig
from tests.unit.pipeline.driver.hadoop_files import Files, spark

OFFSETS = """v1
{"batchWatermarkMs":0,"batchTimestampMs":1774000000000,"conf":{}}
{"page_change":{"0":%d,"1":4}}
"""
EARLIER = Path(__file__).with_name("earlier")


class Checkpoint:
    """A directory in the place of Hadoop's file system."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.files = directory, Files()
        for part in ("offsets", "commits", "sources/0"):
            (directory / part).mkdir(parents=True)

    def __str__(self) -> str:
        return str(self.directory)

    def plan(self, *batches: int, text: str = OFFSETS) -> None:
        for batch in batches:
            self.write(f"offsets/{batch}", text % batch if "%d" in text else text)

    def commit(self, *batches: int) -> None:
        for batch in batches:
            self.write(f"commits/{batch}", "")

    def begin(self, offsets: str) -> None:
        self.write("sources/0/0", f"\0v1\n{offsets}")

    def write(self, name: str, text: str) -> None:
        (self.directory / name).write_text(text)

    @property
    def committed(self) -> dict[SourcePartition, int] | None:
        return committed_offsets(spark(self.files), str(self))

    @property
    def content(self) -> CheckpointContent:
        return read_content(spark(self.files), f"{self}/")

    def replayed(self, **how: bool) -> Any:
        return replayed_from(spark(self.files), str(self), **how)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    return Checkpoint(tmp_path)


def test_the_last_committed_batch_says_the_position(checkpoint: Checkpoint) -> None:
    """And not a batch that is only planned."""
    checkpoint.plan(9, 10, 11)
    checkpoint.commit(9, 10)
    assert checkpoint.committed == {("page_change", 0): 10, ("page_change", 1): 4}
    assert [stream.closed for stream in checkpoint.files.opened] == [True]


def test_the_watermark_is_that_of_the_batch_that_runs_next(checkpoint: Checkpoint) -> None:
    """One that is planned has its own, whatever a later commit would say."""

    def watermark() -> int | None:
        return watermark_ms(spark(Files()), str(checkpoint))

    assert watermark() is None, "no batch is planned"
    checkpoint.plan(0)
    assert watermark() is None, "nothing has moved it"
    checkpoint.write("commits/0", 'v1\n{"nextBatchWatermarkMs":1773999970000}')
    assert watermark() == 1773999970000
    checkpoint.plan(1, text=OFFSETS.replace('WatermarkMs":0', 'WatermarkMs":1773999970001'))
    assert watermark() == 1773999970001
    checkpoint.write("commits/1", "v1\n{}")
    assert watermark() is None, "what is none of Spark's it will refuse itself"


def test_before_any_commit_it_is_where_the_job_began(checkpoint: Checkpoint) -> None:
    """Two topics keep their own positions."""
    assert checkpoint.committed is None
    checkpoint.begin('{"page_change":{"0":7},"page_links":{"0":3}}')
    assert checkpoint.committed == {("page_change", 0): 7, ("page_links", 0): 3}
    checkpoint.plan(0)
    assert checkpoint.committed == {("page_change", 0): 7, ("page_links", 0): 3}


@pytest.mark.parametrize(
    "offsets",
    [
        '{"page_change":{"0":9},"page_links":{"0":3}}',
        '{"page_change": {"0": 9}, "page_links": {"0": 3}}',
        '{"page_change":{"0":9}}\n-\n{"page_links":{"0":3}}\n',
    ],
    ids=["Spark's own source", "a Python source", "a job that unites streams has a line for each"],
)
def test_it_does_not_matter_which_source_wrote_the_offsets(checkpoint: Checkpoint, offsets: str) -> None:
    checkpoint.plan(0, text=OFFSETS.rsplit("\n", 2)[0] + f"\n{offsets}")
    checkpoint.commit(0)
    assert checkpoint.committed == {("page_change", 0): 9, ("page_links", 0): 3}
    assert checkpoint.content.spark.topics == ["page_change", "page_links"]


def test_where_nothing_lies_nothing_more_is_asked(tmp_path: Path) -> None:
    files = Files()
    assert not read_content(spark(files), str(tmp_path / "nowhere")).spark.has_position
    assert files.asked == 1


@pytest.mark.parametrize("texts", [['{"ä": 1}'], ['{"ä": 1}', "other"]], ids=["written", "written over"])
def test_a_small_file_is_written_over(checkpoint: Checkpoint, texts: list[str]) -> None:
    for text in texts:
        write_text(spark(Files()), str(checkpoint), "job.json", text)
    assert checkpoint.content.identity == texts[-1]


def test_the_topics_are_those_of_the_last_plan_or_of_the_beginning(checkpoint: Checkpoint) -> None:
    found = checkpoint.content
    assert sorted(found.spark.entries) == ["commits", "offsets", "sources"]
    assert (found.identity, found.spark.topics, found.spark.has_position) == (None, [], False)
    checkpoint.begin('{"earlier":{"0":0}}')
    assert (checkpoint.content.spark.topics, checkpoint.content.spark.has_position) == (["earlier"], True)
    checkpoint.plan(9, 10)
    checkpoint.write("offsets/11.tmp", "")
    assert (checkpoint.content.spark.topics, checkpoint.content.spark.batches) == (["page_change"], (9, 10))


def test_a_batch_that_is_planned_and_not_committed_will_be_replayed_from_the_end_of_the_last(
    checkpoint: Checkpoint,
) -> None:
    """Where events leave later than they are read no offset is before it."""
    assert checkpoint.replayed() is None
    checkpoint.plan(9, 10)
    checkpoint.commit(9)
    assert checkpoint.replayed() == {("page_change", 0): 9, ("page_change", 1): 4}
    assert checkpoint.replayed(leaves_later=True) == {}
    checkpoint.commit(10)
    assert checkpoint.replayed() is checkpoint.replayed(leaves_later=True) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [(f"v1\n{{}}\n{last}\n", "is not in the form") for last in ("no json", "5", "[1]", '{"a": 5}')]
    + [("", "it begins with ''"), ("v1\n", "it breaks off")],
)
def test_a_file_that_is_not_sparks_is_refused(checkpoint: Checkpoint, text: str, why: str) -> None:
    checkpoint.plan(0, text=text)
    with pytest.raises(RefusedError, match=f"offsets/0 .*{why}"):
        checkpoint.content  # noqa: B018 - it is read


class DownFiles(Files):
    error: Exception = Py4JError("the store is down")

    def exists(self, path: Path) -> bool:
        raise self.error


def start(place: Path, files: Files | None = None) -> Ownership:
    return Ownership(spark(files or Files()), str(place))


def test_the_later_start_has_it(tmp_path: Path) -> None:
    older, newer = start(tmp_path), start(tmp_path)
    older.take()
    older.check()
    newer.take()
    newer.check()
    for asked in (older.check, older.check_if_reachable):
        with pytest.raises(FencedError, match="another start of this job has taken checkpoint") as fenced:
            asked()
        assert fenced.value.exit_code == 2


def test_who_removed_the_file_took_nothing(tmp_path: Path) -> None:
    owner = start(tmp_path)
    owner.take()
    (tmp_path / OWNER_FILE).unlink()
    owner.check()


def test_a_store_that_is_down_matters_before_a_write_alone(tmp_path: Path) -> None:
    owner: Any = start(tmp_path, DownFiles())
    owner.check_if_reachable()
    with pytest.raises(Py4JError):
        owner.check()


def test_of_a_jvm_that_is_gone_nothing_can_be_asked(tmp_path: Path) -> None:
    """py4j lets the operating system's own error through."""
    files = DownFiles()
    files.error = ConnectionRefusedError(111, "Connection refused")
    start(tmp_path, files).check_if_reachable()


def deferred(name: str) -> dict[int, Entry]:
    """By offset in the one partition of the source: what the ledger holds, by all of its records."""
    lines = (EARLIER / name / "ledger.jsonl").read_text().splitlines()
    items = []
    for offset, line in enumerate(lines):
        record: dict[str, Any] = json.loads(line)
        value = None if record["value"] is None else record["value"].encode()
        headers = [(header, content.encode()) for header, content in record["headers"]]
        items.append(parse(record["key"].encode(), value, headers, partition=record["partition"], offset=offset))
    found = fold(items).deferred
    assert {(one.topic, one.partition) for one in found} == {("page_change", 0)}
    return {one.offset: entry for one, entry in found.items()}


def identity(name: str) -> Identity:
    found = read_content(spark(Files()), str(EARLIER / name))
    require_checkpoint(found.spark.entries - {"ledger.jsonl"}, name)
    assert found.spark.has_position
    assert found.spark.topics == ["page_change"]
    assert found.identity is not None
    return Identity.read(found.identity, name)


def test_a_job_that_drops_repeats(make_config: MakeConfig) -> None:
    place, found = str(EARLIER / "repeats"), identity("repeats")
    source = {"topic": "page_change", "read": "aligned", "deduplicate": {"within": "1h"}}
    config = make_config(source=source, sink={"topic": "html"}, checkpoint="repeats")
    own = Identity.of(config, found.cluster, found.source_ids)
    require_own(found, own, checkpoint="repeats", topics=["page_change"])
    state = pinned(found.state, config, checkpoint="repeats", slots=8, exists=True)
    assert state is not None
    assert (state.partitions, state.delay_ms) == (2, 1), "the shortest, as that of the checkpoint is not known"
    assert found.ledger is not None
    assert (found.ledger.topic, found.ledger.epoch) == ("deferred", 1)
    assert set(committed_offsets(spark(Files()), place)) == {("page_change", 0)}
    assert watermark_ms(spark(Files()), place)
    held = {offset: (one.kind, one.attempt, one.key) for offset, one in deferred("repeats").items()}
    page = b'{"wiki_id":"enwiki","page_id":%d}'
    waiting = dict.fromkeys((56, 79, 101), ("waiting", 0, page % 1))
    assert held == {**waiting, 108: ("waiting", 0, page % 15)}


def test_a_job_that_counts(make_config: MakeConfig) -> None:
    place, found = str(EARLIER / "counts"), identity("counts")
    source = {"topic": "page_change", "read": "aligned", "late": "lapse", "lateness": "5s"}
    config = make_config(
        job="edit-counts",
        source=source,
        count={"window": "10s", "delay": "5s"},
        sink={"topic": "counts"},
        checkpoint="counts",
    )
    require_own(found, Identity.of(config, found.cluster, found.source_ids), checkpoint="counts")
    assert pinned(found.state, config, checkpoint="counts", slots=8, exists=True) == found.state
    assert committed_offsets(spark(Files()), place) == {("page_change", 0): 102}
    assert watermark_ms(spark(Files()), place) == 1772442028816, "that of the batch which is planned"
    counted = {offset: [at.offset for at in one.counted or ()] for offset, one in deferred("counts").items()}
    assert counted == {13: [13], 14: [14], 19: [19], 20: [20], 24: [4, 24], 25: [7, 8, 25], 28: [10, 26, 28]}
