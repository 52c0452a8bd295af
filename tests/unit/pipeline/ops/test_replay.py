from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import RefusedError
from pipeline.ops.copying import Copy
from pipeline.ops.moment import milliseconds, parse_moment, show, show_ms
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


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-02T11:00:00Z", datetime(2026, 3, 2, 11, tzinfo=UTC)),
        ("2026-03-02T11:00:00.5+01:00", datetime(2026, 3, 2, 10, 0, 0, 500_000, tzinfo=UTC)),
        ("2h ago", NOW - timedelta(hours=2)),
        ("90 s ago", NOW - timedelta(seconds=90)),
        ("0s ago", NOW),
    ],
)
def test_the_forms(text: str, moment: datetime) -> None:
    assert parse_moment(text, NOW) == moment


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *((text, "is no moment") for text in ("yesterday", "", "2h", "99999999h ago")),
        ("2 ago", "no unit"),
        *((text, "has no time zone") for text in ("2026-03-02T11:00:00", "2026-03-02")),
        ("0001-01-01T00:00:00+14:00", "is before the year 1"),
        ("2026-03-02T12:00:01Z", "is in the future: here it is 2026-03-02T12:00:00Z"),
    ],
)
def test_anything_else_is_refused(text: str, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        parse_moment(text, NOW)


# From the second day on: in the east the first one begins before Kafka's time does.
@given(st.datetimes(datetime(1970, 1, 2), datetime(2026, 3, 1), timezones=st.timezones()))
def test_what_is_shown_is_read_again(moment: datetime) -> None:
    whole = moment.replace(microsecond=0)
    # By its number: to Python, times that a clock skips equal no other.
    assert parse_moment(show(whole), NOW).timestamp() == whole.timestamp()
    assert show_ms(milliseconds(whole)) == show(whole)


@pytest.mark.parametrize("producers_ms", [1_790_000_000_000_000, 2**63 - 1])
def test_a_time_of_no_year_is_shown_as_its_number(producers_ms: int) -> None:
    """As of a producer that counts microseconds."""
    assert show_ms(producers_ms) == f"{producers_ms} ms since the epoch"


def test_what_is_older_than_kafkas_time_is_its_beginning() -> None:
    assert milliseconds(datetime(1960, 1, 1, tzinfo=UTC)) == 0
