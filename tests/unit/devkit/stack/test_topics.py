"""What is asked of Kafka, and what becomes of its errors; a real broker is in the integration tests."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from kafka.errors import KafkaConnectionError, KafkaTimeoutError, TopicAlreadyExistsError, UnknownTopicOrPartitionError
from kafka.structs import TopicPartition

from devkit.errors import StackError
from devkit.stack import topic_reader as consumer_module
from devkit.stack import topics
from devkit.stack.topics import TopicEnds, recreate_topics, remove_topics

WANTED = {"in": (2, {"max.message.bytes": "1048576"}), "out": (1, dict[str, str]())}


@dataclass
class Admin:
    """`still` is how often the broker says that a deleted topic is still there."""

    existing: set[str]
    still: int = 0
    fails: bool = False
    deletion: Exception | None = None
    calls: list[tuple[str, Any]] = field(default_factory=list)

    def list_topics(self) -> list[str]:
        return sorted(self.existing)

    def delete_topics(self, names: list[str], **_: Any) -> None:
        self.calls.append(("delete", names))
        if self.deletion:
            raise self.deletion

    def create_topics(self, new: list[Any], **_: Any) -> None:
        if self.fails:
            raise KafkaConnectionError("gone")
        if self.still:
            self.still -= 1
            raise TopicAlreadyExistsError
        self.calls.append(("create", {topic.name: (topic.num_partitions, topic.topic_configs) for topic in new}))

    def close(self) -> None:
        self.calls.append(("close", None))


def recreate(monkeypatch: pytest.MonkeyPatch, admin: Admin) -> list[tuple[str, Any]]:
    monkeypatch.setattr(topics, "KafkaAdminClient", lambda **_: admin)
    recreate_topics("127.0.0.1:1", WANTED)
    return admin.calls


@pytest.mark.parametrize(
    ("admin", "deleted"),
    [
        pytest.param(Admin({"other"}), [], id="not there"),
        pytest.param(Admin({"out", "in", "other"}), ["in", "out"], id="deleted first, and others left"),
        pytest.param(Admin({"in"}, deletion=UnknownTopicOrPartitionError()), ["in"], id="gone by itself"),
        pytest.param(Admin({"in"}, still=2), ["in"], id="a deletion that takes its time"),
    ],
)
def test_topics_are_made(monkeypatch: pytest.MonkeyPatch, admin: Admin, deleted: list[str]) -> None:
    deletion = [("delete", deleted)] if deleted else []
    assert recreate(monkeypatch, admin) == [*deletion, ("create", WANTED), ("close", None)]
    assert admin.still == 0


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> Admin:
    fake = Admin({"in", "other"})
    monkeypatch.setattr(topics, "KafkaAdminClient", lambda **_: fake)
    return fake


def test_only_what_is_there_is_removed(admin: Admin) -> None:
    remove_topics("127.0.0.1:1", ["in", "out"])
    remove_topics("127.0.0.1:1", ["out"])
    assert admin.calls == [("delete", ["in"]), ("close", None), ("close", None)]


def test_what_cannot_be_removed_or_made_is_an_error_of_the_stack(admin: Admin) -> None:
    admin.deletion, admin.fails = KafkaConnectionError("gone"), True
    with pytest.raises(StackError, match=r"topics at 127.0.0.1:1 could not be removed: .*gone"):
        remove_topics("127.0.0.1:1", ["in"])
    assert admin.calls[-1] == ("close", None)
    admin.existing = set()
    with pytest.raises(StackError, match=r"topics at 127.0.0.1:1 could not be made: .*gone"):
        recreate_topics("127.0.0.1:1", WANTED)
    assert admin.calls[-1] == ("close", None)


def test_no_broker_is_an_error_of_the_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: Any) -> Any:
        raise KafkaTimeoutError("Unable to bootstrap")

    monkeypatch.setattr(topics, "KafkaAdminClient", refuse)
    monkeypatch.setattr(consumer_module, "KafkaConsumer", refuse)
    with pytest.raises(StackError, match=r"Kafka at 127.0.0.1:1 does not answer: .*Unable to bootstrap"):
        recreate_topics("127.0.0.1:1", WANTED)
    with pytest.raises(StackError, match=r"Kafka at 127.0.0.1:1 does not answer: .*Unable to bootstrap"):
        TopicEnds("127.0.0.1:1")


@dataclass
class Consumer:
    partitions: set[int] | None
    fails: bool = False
    leaderless: frozenset[int] = frozenset()
    closed: bool = False

    def partitions_for_topic(self, _topic: str) -> set[int] | None:
        return self.partitions

    def end_offsets(self, places: list[TopicPartition], *, timeout_ms: int) -> dict[TopicPartition, int]:
        if self.fails:
            raise KafkaTimeoutError("no answer")
        if self.leaderless & {place.partition for place in places}:
            if len(places) == 1:
                raise KafkaTimeoutError(f"no answer for {timeout_ms} ms")
            raise KeyError(places[0])  # as kafka-python does
        return {place: 100 + place.partition for place in places}

    def close(self) -> None:
        self.closed = True


def test_a_broker_that_was_away_for_minutes_is_tried_again_every_second(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(consumer_module, "KafkaConsumer", lambda **settings: given.update(settings) or Consumer({0}))
    TopicEnds("127.0.0.1:1")
    assert given["reconnect_backoff_max_ms"] <= 1_000


class TestEnds:
    def ends(self, monkeypatch: pytest.MonkeyPatch, consumer: Consumer) -> TopicEnds:
        monkeypatch.setattr(consumer_module, "KafkaConsumer", lambda **_: consumer)
        return TopicEnds("127.0.0.1:1")

    @pytest.mark.parametrize(("partitions", "ends"), [({1, 0}, {0: 100, 1: 101}), (None, {})])
    def test_by_partition(
        self, monkeypatch: pytest.MonkeyPatch, partitions: set[int] | None, ends: dict[int, int]
    ) -> None:
        consumer = Consumer(partitions)
        found = self.ends(monkeypatch, consumer)
        assert found.of("in") == ends
        found.close()
        assert consumer.closed

    @pytest.mark.parametrize(
        ("consumer", "error"),
        [
            (Consumer({0}, fails=True), "no answer"),
            (Consumer({0, 1}, leaderless=frozenset({1})), "partition 1 of in for 30 s"),
        ],
    )
    def test_a_broker_that_does_not_say(self, monkeypatch: pytest.MonkeyPatch, consumer: Consumer, error: str) -> None:
        with pytest.raises(StackError, match=f"Kafka did not say where in ends: .*{error}"):
            self.ends(monkeypatch, consumer).of("in")
