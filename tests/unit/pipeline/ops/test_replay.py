from datetime import UTC, datetime, timedelta

import pytest

from pipeline.errors import RefusedError
from pipeline.ops.copying import Copy
from pipeline.ops.replay import Edge, ReplayRange, parse_edge, part_between, replayed
from pipeline.ops.source import SourceRecord
from tests.unit.pipeline.ops.fake_kafka import FakeConsumer, Row

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECOND_MS = 1000
ROWS = [
    Row(partition, offset, round(NOW.timestamp() * 1000) + offset * SECOND_MS)
    for partition in range(3)
    for offset in range(10)
]


@pytest.mark.parametrize(
    ("text", "edge"),
    [
        ("earliest", "earliest"),
        ("latest", "latest"),
        ("1h ago", NOW - timedelta(hours=1)),
        ("2026-03-02T11:00:00Z", NOW - timedelta(hours=1)),
        ("0:12,31:0", ((0, 12), (31, 0))),
    ],
)
def test_the_forms_of_an_edge(text: str, edge: Edge) -> None:
    assert parse_edge(text, NOW) == edge


@pytest.mark.parametrize("text", ["", "first", "0:", "0:1,", "0:-1", "0:1 1:2", "2026-03-02", "0:\u0665"])
def test_anything_else_is_refused_with_all_forms(text: str) -> None:
    with pytest.raises(RefusedError) as caught:
        parse_edge(text, NOW)
    assert "partition:offset" in str(caught.value.hint)
    assert "earliest" in str(caught.value.hint)


def test_a_partition_stands_once() -> None:
    with pytest.raises(RefusedError, match="stands twice"):
        parse_edge("0:1,1:2,0:3", NOW)


def part(begin: Edge, end: Edge, **retention: dict[int, int]) -> ReplayRange:
    topic = FakeConsumer(ROWS, partitions=3, **retention).as_topic()
    return part_between(topic, topic.bounds(), begin, end)


def test_everything() -> None:
    assert part("earliest", "latest", first={1: 4}) == ReplayRange({0: 0, 1: 4, 2: 0}, {0: 10, 1: 10, 2: 10})


def test_between_two_moments() -> None:
    found = part(NOW + timedelta(seconds=3), NOW + timedelta(seconds=5))
    assert found == ReplayRange(dict.fromkeys(range(3), 3), dict.fromkeys(range(3), 5))


def test_of_a_partition_that_an_edge_leaves_out_nothing_is_replayed() -> None:
    assert part(((0, 3), (2, 1)), "latest") == ReplayRange({0: 3, 2: 1}, {0: 10, 2: 10})
    assert part("earliest", ((1, 2),)) == ReplayRange({1: 0}, {1: 2})
    assert part(((0, 3),), ((1, 2),)) == ReplayRange({}, {})


@pytest.mark.parametrize(
    ("begin", "end", "why"),
    [
        (((0, 3),), ((0, 2),), "would end at 2, before it begins at 3"),
        ("latest", "earliest", "before it begins"),
        (((3, 0),), "latest", "has no partition 3"),
        (((0, 11),), "latest", "0/11 is not in the topic"),
        (((1, 3),), "latest", "1/3 is not in the topic"),
    ],
)
def test_a_part_that_cannot_be(begin: Edge, end: Edge, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        part(begin, end, first={1: 4})


@pytest.mark.parametrize("keep", [True, False])
def test_a_replay_is_the_record_and_where_it_was(keep: bool) -> None:
    record = SourceRecord(2, 7, 1234, b"k", b"v", (("h", b"1"), ("none", None), ("replayed-from", b"t/0/1")))
    assert replayed(record, "t", keep_partition=keep) == Copy(
        b"k",
        b"v",
        (
            ("h", b"1"),
            ("none", None),
            ("replayed-from", b"t/0/1"),
            ("replayed-from", b"t/2/7"),
            ("replayed-timestamp-ms", b"1234"),
        ),
        2 if keep else None,
    )
