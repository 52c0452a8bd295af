from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.config.start_position import CHOICES, MissingCheckpoint, NewStart, check, instead_of_missing, parse_new
from pipeline.errors import RefusedError

ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOW = datetime(2200, 2, 1, tzinfo=UTC)


@pytest.mark.parametrize("name", ["earliest", "latest"])
def test_an_end_of_the_topic(name: str) -> None:
    assert parse_new(name, NOW) == NewStart(name, {"startingOffsets": name})


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("2026-01-31T00:00:00Z", 1_769_817_600_000),
        ("2026-01-31T01:00:00+01:00", 1_769_817_600_000),
        ("2026-01-31T00:00:00.001Z", 1_769_817_600_001),
        ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T00:00:00Z", 0),
        ("24h ago", 7_260_710_400_000),
    ],
)
def test_a_time_is_in_milliseconds_and_a_partition_without_one_begins_at_its_end(text: str, milliseconds: int) -> None:
    assert parse_new(f"timestamp={text}", NOW).options == {
        "startingTimestamp": str(milliseconds),
        "startingOffsetsByTimestampStrategy": "latest",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [("2026-01-31", "no time zone"), ("2026-01-31T00:00:00", "no time zone"), ("2200-02-02T00:00Z", "in the future")],
)
def test_a_time_without_a_zone_and_the_future_are_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(RefusedError, match=message) as caught:
        parse_new(f"timestamp={text}", NOW)
    assert f"--new timestamp={text}: " in str(caught.value)


@given(st.datetimes(datetime(1970, 1, 3), datetime(2200, 1, 1), timezones=ZONES))
@example(datetime(1970, 1, 1, 0, 0, 1, 1000, tzinfo=UTC))
def test_no_time_is_off_by_a_millisecond(moment: datetime) -> None:
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    milliseconds = int(parse_new(f"timestamp={moment.isoformat()}", NOW).options["startingTimestamp"])
    assert EPOCH + timedelta(milliseconds=milliseconds) == moment


@pytest.mark.parametrize(
    "text", ["", "Earliest", "timestamp", "timestamp=", "timestamp=yesterday", "timestamp=2026-02-30", "offset=5", "="]
)
def test_anything_else_is_refused_with_the_choices(text: str) -> None:
    with pytest.raises(RefusedError) as caught:
        parse_new(text, NOW)
    assert f"--new {text}: " in str(caught.value)
    assert CHOICES in str(caught.value.hint)
    assert caught.value.exit_code == 2


def test_a_checkpoint_is_continued_or_made_and_nothing_between() -> None:
    check(None, checkpoint="c", exists=True)
    check(parse_new("earliest", NOW), checkpoint="c", exists=False)
    with pytest.raises(RefusedError, match="s3a://b/c holds no position") as caught:  # never a silent earliest
        check(None, checkpoint="s3a://b/c", exists=False)
    assert CHOICES in str(caught.value.hint)
    with pytest.raises(RefusedError, match="s3a://b/c exists, and --new latest would not be obeyed"):
        check(parse_new("latest", NOW), checkpoint="s3a://b/c", exists=True)


@pytest.mark.parametrize(
    ("new", "exists", "policy", "begins"),
    [
        (None, False, "refuse", None),
        (None, True, "earliest", None),
        (None, False, "earliest", "earliest"),
        ("latest", False, "earliest", "latest"),
        ("latest", True, "earliest", "latest"),
    ],
)
def test_only_the_incidents_policy_begins_where_it_was_not_told(
    new: str | None, *, exists: bool, policy: MissingCheckpoint, begins: str | None
) -> None:
    asked = parse_new(new, NOW) if new else None
    found = instead_of_missing(asked, exists=exists, policy=policy)
    assert (found.name if found else None) == begins
