"""Draws a length of time that a rule gives: fixed, or log-normal by a function of (seed, rule, key, attempt)."""

from datetime import timedelta

from mockapi.draws import Draw, log_normal
from mockapi.rules.drawn_time import DrawnTime


def drawn(time: DrawnTime, draw: Draw, purpose: str) -> timedelta:
    """The time of one request; `purpose` keeps the draws of different faults of one rule independent."""
    if time.p50 is None or time.p99 is None:
        return time.fixed or timedelta(0)
    seconds = log_normal(draw.uniform(purpose), time.p50.total_seconds(), time.p99.total_seconds())
    length = timedelta(seconds=seconds)
    return min(length, time.cap) if time.cap is not None else length
