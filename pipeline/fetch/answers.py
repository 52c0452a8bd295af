"""What an answer says about the upstream, and not about what was asked for: that it is unhealthy or busy, and until
when.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# Transient statuses below 500; from 500 on all are.
_TRANSIENT = frozenset({408, 425, 429})


def is_transient(status: int) -> bool:
    """Whether the same request may be answered otherwise later."""
    return status >= 500 or status in _TRANSIENT


def retry_after_s(value: str | None, now: Callable[[], datetime]) -> float | None:
    """Seconds to wait, from either form of `Retry-After`; None when it is absent or unreadable."""
    if value is None:
        return None
    if value.isascii() and value.strip().isdigit():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
        # "-0000" is UTC too, but comes without a zone.
        return max(0.0, ((when if when.tzinfo else when.replace(tzinfo=UTC)) - now()).total_seconds())
    except (ValueError, OverflowError):
        return None
