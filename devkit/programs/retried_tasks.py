"""What retried tasks of Spark read again, by what a program says of them."""

from devkit.observe.checkpoint import OffsetRange
from pipeline.events import TaskRetried


def read_again(event: TaskRetried) -> tuple[OffsetRange, ...]:
    """Each range that the task read, once for each of its attempts before the one that ended."""
    ranges = tuple(
        OffsetRange({(one.topic, one.partition): one.first}, {(one.topic, one.partition): one.end})
        for one in event.read
    )
    return ranges * event.attempts
