"""Draws a length of time that a rule gives, by a function of (seed, rule, key, attempt)."""

from datetime import timedelta

from mockapi.draws import Draw, empirical, log_normal, normal
from mockapi.rules.drawn_time import DrawnTime


def drawn(time: DrawnTime, draw: Draw, purpose: str) -> timedelta | None:
    """The time of one request, None for ever; `purpose` keeps the draws of different faults of one rule independent."""
    return None if time.never else drawn_end(time, draw, purpose)


def drawn_end(time: DrawnTime, draw: Draw, purpose: str) -> timedelta:
    """The same of a time that is not `never`."""
    if time.fixed is not None:
        return time.fixed
    length = timedelta(seconds=max(0.0, _seconds(time, draw.uniform(purpose))))
    return min(length, time.cap) if time.cap is not None else length


def _seconds(time: DrawnTime, u: float) -> float:
    if time.p50 is not None and time.p99 is not None:
        return log_normal(u, time.p50.total_seconds(), time.p99.total_seconds())
    if time.uniform is not None:
        low, high = time.uniform.from_.total_seconds(), time.uniform.to.total_seconds()
        return low + u * (high - low)
    if time.normal is not None:
        return normal(u, time.normal.mean.total_seconds(), time.normal.sd.total_seconds())
    buckets = time.empirical or ()
    return empirical(u, [bucket.up_to.total_seconds() for bucket in buckets], [bucket.count for bucket in buckets])


def noted(name: str, time: timedelta | None) -> dict[str, float]:
    """The draw for the journal, in seconds under `name`; for ever is -1."""
    return {name: -1.0 if time is None else time.total_seconds()}
