"""Times as MediaWiki keeps and writes them."""

from datetime import UTC, datetime


def seconds(at: datetime) -> datetime:
    """In UTC, without fractions of a second."""
    return at.astimezone(UTC).replace(microsecond=0)


def iso(at: datetime) -> str:
    """In UTC, to the second: `2026-01-01T00:00:00Z`."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
