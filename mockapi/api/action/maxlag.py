"""Replica lag: a client that says how much it puts up with (`maxlag`) is sent away when there is more."""

from datetime import timedelta
from typing import Final

from mockapi.api.action.errors import ApiError

_LEAST_RETRY_AFTER_S: Final = 5


def check_lag(behind: timedelta | None, most: int | None) -> None:
    """Raises ApiError when the replicas are further behind than `most` seconds, which a client gives as `maxlag`."""
    if most is None:
        return
    lag = seconds(behind)
    if lag <= most:
        return
    unit = "second" if abs(lag) == 1 else "seconds"
    raise ApiError(
        "maxlag",
        f"Waiting for a database server: {lag} {unit} lagged.",
        data={"host": "", "lag": lag, "type": "db"},
        headers=(
            (b"retry-after", str(max(most, _LEAST_RETRY_AFTER_S)).encode()),
            (b"x-database-lag", str(int(lag)).encode()),
        ),
    )


def seconds(lag: timedelta | None) -> int | float:
    """The lag as MediaWiki says it: -1 for a server without replicas."""
    if lag is None:
        return -1
    value = lag.total_seconds()
    return int(value) if value.is_integer() else value
