"""The checkpoint as Spark lays it out, in a store made of a dictionary."""

import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from mypy_boto3_s3 import S3Client

from devkit.errors import StackError
from devkit.observe.checkpoint import Checkpoint, OffsetRange, of_topic
from tests.unit.devkit.observe.fake_s3 import FakeS3

TOPIC = "mediawiki.page_change.v1"


@pytest.fixture
def store() -> FakeS3:
    return FakeS3()


@pytest.fixture
def checkpoint(store: FakeS3) -> Checkpoint:
    return Checkpoint(cast(S3Client, store), "checkpoints", "/incident/x/", (TOPIC,))


def plan(store: FakeS3, batch: int, **ends: int) -> None:
    """The offset file of a batch, as Spark writes it: version, metadata, an offset a source."""
    offsets = {TOPIC: {name.removeprefix("p"): end for name, end in ends.items()}}
    metadata = {"batchWatermarkMs": 0, "batchTimestampMs": 1794000000000, "conf": {}}
    store.put("checkpoints", f"incident/x/offsets/{batch}", f"v1\n{json.dumps(metadata)}\n{json.dumps(offsets)}")


def commit(store: FakeS3, batch: int) -> None:
    store.put("checkpoints", f"incident/x/commits/{batch}", 'v1\n{"nextBatchWatermarkMs":0}')


TWELVE = [{"p0": 10 * batch, "p1": batch - 1} for batch in range(1, 13)]


@pytest.mark.parametrize(
    ("planned", "commits", "committed", "failed"),
    [
        pytest.param([], 0, {}, None, id="a checkpoint that is not there"),
        pytest.param([{"p0": 50}], 0, {}, ({}, {0: 50}), id="the first batch begins at nothing"),
        pytest.param([{"p0": 50}], 1, {0: 50}, None, id="all is committed"),
        pytest.param([*TWELVE, {"p0": 500}], 12, {0: 120, 1: 11}, ({0: 120, 1: 11}, {0: 500}), id="twelve batches"),
        pytest.param([{"p0": 50}, {"p0": 80, "p1": 20}], 1, {0: 50}, ({0: 50}, {0: 80, 1: 20}), id="a new partition"),
    ],
)
def test_committed_is_the_last_committed_batch_and_failed_the_one_planned_behind_it(
    store: FakeS3, checkpoint: Checkpoint, planned: list[Any], commits: int, committed: Any, failed: Any
) -> None:
    for batch, ends in enumerate(planned):
        plan(store, batch, **ends)
    for batch in range(commits):
        commit(store, batch)
    assert checkpoint.committed() == of_topic(TOPIC, committed)
    assert checkpoint.failed_range() == (failed and OffsetRange(*(of_topic(TOPIC, ends) for ends in failed)))


def test_what_is_no_batch_or_of_another_topic_does_not_count(store: FakeS3, checkpoint: Checkpoint) -> None:
    plan(store, 0, p0=50)
    commit(store, 0)
    for name in (".0.crc", ".1.tmp", "1.compact", "", "deep/7"):
        store.put("checkpoints", f"incident/x/offsets/{name}", "")
        store.put("checkpoints", f"incident/x/commits/{name}", "")
    store.put("checkpoints", "incident/xx/commits/9", "")
    assert checkpoint.committed() == of_topic(TOPIC, {0: 50})
    assert checkpoint.failed_range() is None
    store.put("checkpoints", "incident/x/offsets/1", 'v1\n{}\n{"another":{"0":9}}')
    commit(store, 1)
    assert checkpoint.committed() == {}


def test_where_the_first_batch_begins(store: FakeS3, checkpoint: Checkpoint) -> None:
    assert checkpoint.began() == {}
    store.put("checkpoints", "incident/x/sources/0/0", f"\0v1\n{json.dumps({TOPIC: {'0': 7}, 'another': {'0': 9}})}")
    assert checkpoint.began() == checkpoint.began() == of_topic(TOPIC, {0: 7})
    assert store.reads == 1


def test_partitions_of_two_topics_are_told_apart(store: FakeS3) -> None:
    both = Checkpoint(cast(S3Client, store), "checkpoints", "incident/x", (TOPIC, "links"))
    offsets = {TOPIC: {"0": 7}, "links": {"0": 3, "1": 4}, "another": {"0": 9}}
    store.put("checkpoints", "incident/x/offsets/0", f"v1\n{{}}\n{json.dumps(offsets)}")
    commit(store, 0)
    assert both.committed() == {(TOPIC, 0): 7, ("links", 0): 3, ("links", 1): 4}
    assert both.range_of(0).size == 14
    assert not both.range_of(0).holds(("links", 0), 5)


def test_a_query_that_unites_streams_has_a_line_for_each(store: FakeS3) -> None:
    both = Checkpoint(cast(S3Client, store), "checkpoints", "incident/x", (TOPIC, "links", "late"))
    lines = [json.dumps({TOPIC: {"0": 7}}), "-", json.dumps({"links": {"0": 3}})]
    store.put("checkpoints", "incident/x/offsets/0", "\n".join(["v1", "{}", *lines]))
    commit(store, 0)
    assert both.committed() == {(TOPIC, 0): 7, ("links", 0): 3}


def test_an_offset_file_is_read_once(store: FakeS3, checkpoint: Checkpoint) -> None:
    plan(store, 0, p0=50)
    commit(store, 0)
    for _ in range(3):
        checkpoint.committed()
    assert store.reads == 1


@pytest.mark.parametrize("asked", [Checkpoint.committed, Checkpoint.delete])
def test_a_store_that_is_gone_is_an_error_of_the_stack(
    store: FakeS3, checkpoint: Checkpoint, asked: Callable[[Checkpoint], object]
) -> None:
    store.broken = True
    with pytest.raises(StackError, match="the checkpoint could not be listed"):
        asked(checkpoint)


def test_a_committed_batch_without_its_offsets_is_an_error_of_the_stack(store: FakeS3, checkpoint: Checkpoint) -> None:
    commit(store, 3)
    with pytest.raises(StackError, match="offsets of batch 3 could not be read from the checkpoint"):
        checkpoint.committed()


@pytest.mark.parametrize(
    "text", ["", "v1\n{}\nnot json", "v1\n{}\n[1]", 'v1\n{}\n{"mediawiki.page_change.v1": 5}', b"\xff\xfe\x00"]
)
def test_an_offset_file_of_another_form_is_an_error_of_the_stack(
    store: FakeS3, checkpoint: Checkpoint, text: str | bytes
) -> None:
    store.put("checkpoints", "incident/x/offsets/0", text)
    with pytest.raises(StackError, match="offsets of batch 0 are not in the form of Spark's checkpoints"):
        checkpoint.range_of(0)


def test_batches_of_a_checkpoint_that_was_made_anew_are_not_those_of_before(
    store: FakeS3, checkpoint: Checkpoint
) -> None:
    for batch in range(3):
        plan(store, batch, p0=10 * (batch + 1))
        commit(store, batch)
    assert checkpoint.committed() == of_topic(TOPIC, {0: 30})
    assert checkpoint.delete() == 6
    assert checkpoint.delete() == 0
    assert checkpoint.committed() == {}
    plan(store, 0, p0=7)
    commit(store, 0)
    assert checkpoint.committed() == of_topic(TOPIC, {0: 7})


def test_more_objects_than_one_request_takes_are_deleted(store: FakeS3, checkpoint: Checkpoint) -> None:
    for batch in range(1001):
        commit(store, batch)
    store.put("checkpoints", "incident/another/commits/0", "v1")
    assert checkpoint.delete() == 1001
    assert list(store.objects) == [("checkpoints", "incident/another/commits/0")]
