"""Whether a consumer has read what there is, and why one could not be connected."""

import logging
from collections.abc import Collection, Mapping
from typing import cast

import pytest
from kafka import KafkaConsumer
from kafka.errors import KafkaTimeoutError
from kafka.structs import TopicPartition

from devkit.errors import StackError, UsageError
from devkit.stack import topic_reader
from devkit.stack.topic_reader import connect, has_read, require_topic

FIRST, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)


class Consumer:
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
    assert has_read(cast(KafkaConsumer, Consumer(positions)), ends) is has


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
        require_topic(cast(KafkaConsumer, Consumer({}, topics)), "change")
    assert refused.value.hint == hint


@pytest.mark.parametrize("topic", ["changes", "__consumer_offsets"])
def test_one_that_is_there_is_no_problem(topic: str) -> None:
    require_topic(cast(KafkaConsumer, Consumer({}, ["changes", "__consumer_offsets"])), topic)


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
