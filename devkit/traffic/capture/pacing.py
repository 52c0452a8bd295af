"""When the records of a capture came, and when they are played."""

from collections.abc import Sequence
from datetime import timedelta

from devkit.traffic.capture.capture_file import CapturedRecord


def in_time(records: Sequence[CapturedRecord]) -> list[tuple[timedelta, CapturedRecord]]:
    """The records in the order of time, each with its time since the first.

    Within a partition their order stays, also where a producer's clock went back: the later one then comes with it.
    """
    newest: dict[tuple[str, int], int] = {}
    came: list[tuple[int, int]] = []
    for number, record in enumerate(records):
        place = record.topic, record.partition
        newest[place] = max(newest.get(place, 0), record.timestamp_ms)
        came.append((newest[place], number))
    came.sort()
    return [(timedelta(milliseconds=at - came[0][0]), records[number]) for at, number in came]


def scaled(arrivals: Sequence[timedelta], length: timedelta, *, even: bool) -> list[timedelta]:
    """The times, of which none lies before the one before it, made to fill `length`; `even` spaces them evenly."""
    if even:
        return [length * number / len(arrivals) for number in range(len(arrivals))]
    whole = arrivals[-1]
    return [length * (at / whole) if whole else timedelta(0) for at in arrivals]
