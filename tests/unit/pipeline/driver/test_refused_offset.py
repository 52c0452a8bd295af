"""An offset that a broker refuses: whether the topic has it decides whether a restart helps."""

from collections.abc import Mapping

import pytest
from kafka.errors import KafkaConnectionError

from pipeline.driver.refused_offset import unless_kept
from pipeline.errors import PositionGoneError
from pipeline.records.record import SourcePartition

REFUSED = (
    "query failed: org.apache.kafka.clients.consumer.OffsetOutOfRangeException: Fetch position "
    "FetchPosition{offset=20, offsetEpoch=Optional.empty, "
    "currentLeader=LeaderAndEpoch{leader=Optional[here:1 (id: 1 rack: null)], epoch=0}} is "
    "out of range for partition wiki.page-change-1"
)
HERE = SourcePartition("wiki.page-change", 1)


@pytest.mark.parametrize(
    ("text", "bounds", "exit_code"),
    [
        pytest.param(REFUSED, {HERE: (10, 30)}, 1, id="the topic has it"),
        pytest.param(REFUSED, {HERE: (20, 20)}, 1, id="it is where the topic ends"),
        pytest.param(REFUSED, {HERE: (21, 30)}, 2, id="retention has deleted it"),
        pytest.param(REFUSED, {HERE: (0, 19)}, 2, id="the topic was made again, and is shorter"),
        pytest.param(REFUSED, {}, 2, id="the partition is not there"),
        pytest.param("query failed: 10 events are lost", {HERE: (10, 30)}, 2, id="another text"),
    ],
)
def test_what_a_refused_offset_means(
    text: str, bounds: Mapping[SourcePartition, tuple[int, int]], exit_code: int
) -> None:
    assert unless_kept(PositionGoneError(text), lambda: bounds).exit_code == exit_code


def test_without_an_answer_it_is_gone() -> None:
    error = PositionGoneError(REFUSED)

    def bounds() -> Mapping[SourcePartition, tuple[int, int]]:
        raise KafkaConnectionError

    assert unless_kept(error, bounds) is error
