"""Points in time as operators write them: `2026-01-31T12:00:00Z`, or `2h ago`."""

from datetime import UTC, datetime

from located_config.duration import parse_duration
from pipeline.errors import RefusedError

FORMS = "2026-01-31T12:00:00Z, with its zone, or 2h ago"
_AGO = " ago"


def parse_moment(text: str, now: datetime) -> datetime:
    """The moment, in UTC. Raises RefusedError when it is none, has no zone, or is after `now`."""
    try:
        ago = text.removesuffix(_AGO)
        moment = datetime.fromisoformat(text) if ago == text else now - parse_duration(ago)
    except (ValueError, OverflowError) as error:
        raise RefusedError(f"{text!r} is no moment: {error}", hint=f"write {FORMS}") from None
    if moment.tzinfo is None:
        raise RefusedError(f"{text!r} has no time zone", hint=f"write {FORMS}")
    if moment > now:
        raise RefusedError(f"{text} is in the future: here it is {show(now)}", hint="no event can be that late yet")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise RefusedError(f"{text} is before the year 1 of UTC", hint=f"write {FORMS}") from None


def milliseconds(moment: datetime) -> int:
    """Since 1970, as Kafka's timestamps; what is earlier than that is 0."""
    return max(0, round(moment.timestamp() * 1000))


def show(moment: datetime) -> str:
    """RFC 3339 in UTC, in whole seconds: `2026-01-31T12:00:00Z`."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def show_ms(timestamp_ms: int) -> str:
    """The same for milliseconds since the epoch, which are of a producer: they may be of no year that there is."""
    try:
        return show(datetime.fromtimestamp(timestamp_ms / 1000, UTC))
    except (ValueError, OverflowError):
        return f"{timestamp_ms} ms since the epoch"
