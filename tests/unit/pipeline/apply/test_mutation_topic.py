"""What is asked of Kafka's client, what becomes of what it raises, and the offset at which reading begins."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.errors import GroupAuthorizationFailedError, KafkaError, KafkaTimeoutError, OffsetOutOfRangeError
from kafka.structs import TopicPartition

from pipeline.apply.chunk_record import ChunkRecord
from pipeline.apply.first_offset import KeptOffset, choose_offset
from pipeline.apply.mutation_topic import MutationTopic
from pipeline.errors import PipelineError, RefusedError

PLACE = TopicPartition("mutations", 0)
KEPT = KeptOffset("mutations", "store", 5, first=3, end=9)
ANOTHER = replace(KEPT, topic_id="a", kept_ids=frozenset("b"))


@dataclass
class FakeConsumer:
    """Raises `failure` whatever it is asked."""

    partitions: set[int] = field(default_factory=lambda: {0})
    failure: Exception | None = None
    committed_offset: int | None = 7
    calls: list[tuple[Any, ...]] = field(default_factory=list)
    polled: list[Any] = field(default_factory=list)

    def _call(self, *call: Any) -> None:
        self.calls.append(call)
        if self.failure is not None:
            raise self.failure

    def partitions_for_topic(self, topic: str) -> set[int]:
        self._call("partitions", topic)
        return self.partitions

    def beginning_offsets(self, places: list[TopicPartition], **_: Any) -> dict[TopicPartition, int]:
        return dict.fromkeys(places, 3)

    def end_offsets(self, places: list[TopicPartition], **_: Any) -> dict[TopicPartition, int]:
        return dict.fromkeys(places, 9)

    def committed(self, place: TopicPartition, **_: Any) -> int | None:
        self._call("committed", place)
        return self.committed_offset

    def assign(self, places: list[TopicPartition]) -> None:
        self._call("assign", places)

    def seek(self, place: TopicPartition, offset: int) -> None:
        self._call("seek", place, offset)

    def poll(self, timeout_ms: int) -> dict[TopicPartition, list[Any]]:
        self._call("poll", timeout_ms)
        return {PLACE: self.polled} if self.polled else {}

    def commit(self, offsets: dict[TopicPartition, Any], **_: Any) -> None:
        self._call("commit", {place: kept.offset for place, kept in offsets.items()})

    def commit_async(self, offsets: dict[TopicPartition, Any]) -> None:
        self._call("commit_async", {place: kept.offset for place, kept in offsets.items()})

    def close(self, *, autocommit: bool) -> None:
        self.calls.append(("close", autocommit))


def topic_of(consumer: FakeConsumer) -> MutationTopic:
    return MutationTopic(consumer, "broker:9092", "mutations")


def test_the_records_of_the_partition_in_their_order() -> None:
    headers = [("entity-seq", b"1"), ("empty", None)]
    records = [SimpleNamespace(offset=offset, value=b"{}", headers=headers, timestamp=9) for offset in (5, 6)]
    consumer = FakeConsumer(polled=records)
    topic = topic_of(consumer)
    topic.read_from(5)
    expected = (("entity-seq", b"1"), ("empty", b""))
    assert list(topic.poll(0.5)) == [ChunkRecord(5, b"{}", expected, 9), ChunkRecord(6, b"{}", expected, 9)]
    assert consumer.calls == [("assign", [PLACE]), ("seek", PLACE, 5), ("poll", 500)]
    consumer.polled = []
    assert list(topic.poll(0)) == []


@pytest.mark.parametrize(("committed", "offset"), [(7, 7), (0, 0), (None, None), (-1, None)])
def test_the_bounds_and_the_offset_of_the_group(committed: int | None, offset: int | None) -> None:
    topic = topic_of(FakeConsumer(committed_offset=committed))
    bounds = topic.bounds()
    assert (bounds.first, bounds.end) == ({0: 3}, {0: 9})
    assert topic.committed_offset() == offset


@pytest.mark.parametrize(
    ("partitions", "message"),
    [(set[int](), "there is no topic mutations"), ({0, 1}, "has 2 partitions, and must have 1"), ({1}, "1 partitions")],
)
def test_a_topic_that_has_not_the_one_partition_is_refused(partitions: set[int], message: str) -> None:
    with pytest.raises(RefusedError, match=message):
        topic_of(FakeConsumer(partitions)).bounds()


def test_a_missing_topic_is_that_which_rdf_resolve_writes_to() -> None:
    with pytest.raises(RefusedError) as caught:
        topic_of(FakeConsumer(set())).bounds()
    where = "look at `source.topic` in the file of `apply`"
    assert caught.value.hint == f"{where}: the topic that `rdf-resolve` writes to, made with 1 partition"


def test_offsets_are_committed_and_reported() -> None:
    consumer = FakeConsumer()
    topic = topic_of(consumer)
    topic.commit(8)
    topic.report(9)
    topic.close(9)
    at_9 = {PLACE: 9}
    assert consumer.calls == [("commit", {PLACE: 8}), ("commit_async", at_9), ("commit", at_9), ("close", False)]


def test_a_report_that_fails_changes_nothing() -> None:
    consumer = FakeConsumer(failure=KafkaTimeoutError())
    topic = topic_of(consumer)
    topic.report(9)
    topic.close(9)
    assert consumer.calls[-1] == ("close", False)


@pytest.mark.parametrize(
    ("failure", "is_refused", "message"),
    [
        (KafkaTimeoutError("no answer"), False, "topic mutations at broker:9092"),
        (GroupAuthorizationFailedError(), True, "the brokers deny it: GroupAuthorizationFailedError"),
    ],
)
@pytest.mark.parametrize("method", ["bounds", "committed_offset", "read_from", "poll", "commit"])
def test_what_the_client_raises(method: str, failure: KafkaError, message: str, *, is_refused: bool) -> None:
    arguments = [] if method in ("bounds", "committed_offset") else [1]
    with pytest.raises(PipelineError, match=message) as caught:
        getattr(topic_of(FakeConsumer(failure=failure)), method)(*arguments)
    assert isinstance(caught.value, RefusedError) is is_refused


def test_an_offset_that_is_gone_meanwhile_cannot_be_helped_by_a_restart() -> None:
    topic = topic_of(FakeConsumer(failure=OffsetOutOfRangeError({PLACE: 3})))
    with pytest.raises(RefusedError, match="the next offset of topic mutations at broker:9092 is gone") as caught:
        topic.poll(0)
    assert "load the store again" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("kept", "new_offset", "offset"),
    [
        (KEPT, None, 5),
        (replace(KEPT, offset=3), None, 3),
        (replace(KEPT, offset=9), None, 9),
        (replace(KEPT, offset=None), 7, 7),
        (replace(KEPT, keeper="kafka"), None, 5),
        (replace(KEPT, topic_id="a"), None, 5),
        (replace(KEPT, topic_id="a", kept_ids=frozenset("a")), None, 5),
        (replace(KEPT, kept_ids=frozenset("a")), None, 5),
        (ANOTHER, 3, 3),
        (replace(ANOTHER, offset=None), 7, 7),
    ],
)
def test_where_it_begins(kept: KeptOffset, new_offset: int | None, offset: int) -> None:
    new = None if new_offset is None else "earliest"
    assert choose_offset(kept, new=new, new_offset=new_offset) == offset


@pytest.mark.parametrize(
    ("kept", "new_offset", "message", "hint"),
    [
        (replace(KEPT, offset=None), None, "the store has no offset of topic mutations", "--new earliest, latest or"),
        (KEPT, 3, "has offset 5 of topic mutations, and --new earliest would not be obeyed", "DELETE WHERE { <urn:"),
        (replace(KEPT, keeper="kafka"), 3, "the consumer group has offset 5", "name another source.group"),
        (ANOTHER, None, "with id b, and the id is a now", "topic-id> ?any }"),
        (replace(ANOTHER, kept_ids=frozenset("ab")), None, "with id a, b, and the id is a now", "--new earliest"),
        (replace(KEPT, offset=1), None, "offset 1 of topic mutations, which now begins at 3: 2 records", "from a dump"),
        (replace(KEPT, offset=10), None, "offset 10 of topic mutations, which ends at 9: the topic was", "from a dump"),
    ],
)
def test_what_is_refused(kept: KeptOffset, new_offset: int | None, message: str, hint: str) -> None:
    new = None if new_offset is None else "earliest"
    with pytest.raises(RefusedError) as caught:
        choose_offset(kept, new=new, new_offset=new_offset)
    assert message in str(caught.value)
    assert hint in str(caught.value.hint)
