from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import RefusedError
from pipeline.ops.moment import milliseconds, parse_moment, show, show_ms

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


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
