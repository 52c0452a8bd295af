"""What is asked of Kafka, whether a consumer has read what there is, and what becomes of errors."""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from kafka import KafkaConsumer
from kafka.errors import KafkaConnectionError, KafkaTimeoutError, TopicAlreadyExistsError, UnknownTopicOrPartitionError
from kafka.structs import TopicPartition

from devkit.errors import StackError, UsageError
from devkit.stack import topic_reader, topics
from devkit.stack import topic_reader as consumer_module
from devkit.stack.topic_reader import connect, has_read, require_topic
from devkit.stack.topics import TopicEnds, recreate_topics, remove_topics

WANTED = {"in": (2, {"max.message.bytes": "1048576"}), "out": (1, dict[str, str]())}
FIRST, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)


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


class PositionConsumer:
    """kafka-python gives None for a position that it could not ask for in time, as of a broker that has just died."""

    def __init__(self, positions: Mapping[TopicPartition, int | None], topics: Collection[str] = ()) -> None:
        self._positions, self._topics = positions, set(topics)

    def topics(self) -> set[str]:
        return self._topics

    def position(self, place: TopicPartition) -> int | None:
        return self._positions[place]


@pytest.mark.parametrize(
    ("positions", "ends", "has"),
    [
        ({FIRST: 5, SECOND: 3}, {FIRST: 5, SECOND: 3}, True),
        ({FIRST: 5, SECOND: 2}, {FIRST: 5, SECOND: 3}, False),
        ({FIRST: 5, SECOND: None}, {FIRST: 5, SECOND: 3}, False),
        ({FIRST: None}, {FIRST: 0}, True),
    ],
    ids=["at each end", "behind one", "no position that is known", "no records"],
)
def test_it_has_when_each_position_is_at_its_end(
    positions: Mapping[TopicPartition, int | None], ends: Mapping[TopicPartition, int], has: bool
) -> None:
    assert has_read(cast(KafkaConsumer, PositionConsumer(positions)), ends) is has


@pytest.mark.parametrize(
    ("topics", "hint"),
    [
        (["changes", "other"], "did you mean 'changes'?"),
        (["b", "a", "__consumer_offsets"], "there are: a, b"),
        ([], "there are: 0 other topics"),
        ([f"t{number}" for number in range(21)], "there are: 21 other topics"),
    ],
)
def test_a_topic_that_is_not_there(topics: list[str], hint: str) -> None:
    with pytest.raises(UsageError, match=r"^there is no topic change$") as refused:
        require_topic(cast(KafkaConsumer, PositionConsumer({}, topics)), "change")
    assert refused.value.hint == hint


@pytest.mark.parametrize("topic", ["changes", "__consumer_offsets"])
def test_one_that_is_there_is_no_problem(topic: str) -> None:
    require_topic(cast(KafkaConsumer, PositionConsumer({}, ["changes", "__consumer_offsets"])), topic)


@pytest.mark.parametrize(
    ("logged", "message"),
    [
        (
            [
                "Bootstrap connection to bootstrap-0 failed: AuthenticationFailed: wrong password (backoff 0.05 secs)",
                "Bootstrap connection to bootstrap-0 failed: socket disconnected (backoff 1.05 secs)",
            ],
            "Kafka at a:1 does not answer: KafkaTimeoutError: too long (AuthenticationFailed: wrong password)",
        ),
        (["something else"], "Kafka at a:1 does not answer: KafkaTimeoutError: too long"),
    ],
)
def test_why_there_is_no_connection_is_the_first_that_was_logged(
    monkeypatch: pytest.MonkeyPatch, logged: list[str], message: str
) -> None:
    logger = logging.getLogger("kafka.net.manager")

    def fails(**_settings: object) -> None:
        for line in logged:
            logger.warning("%s", line)
        raise KafkaTimeoutError("too long")

    monkeypatch.setattr(topic_reader, "KafkaConsumer", fails)
    before = list(logger.handlers)
    with pytest.raises(StackError) as raised:
        connect("a:1")
    assert str(raised.value) == message
    assert logger.handlers == before
