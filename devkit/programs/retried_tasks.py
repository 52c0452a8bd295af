"""A retried task of Spark, by what a program says of it."""

from devkit.observe.audit.replays import RetriedTask
from devkit.observe.checkpoint import OffsetRange
from pipeline.events import TaskRetried


def retried_task(event: TaskRetried) -> RetriedTask:
    """With each range that it read."""
    ranges = tuple(
        OffsetRange({(one.topic, one.partition): one.first}, {(one.topic, one.partition): one.end})
        for one in event.read
    )
    return RetriedTask(ranges, event.attempts, event.batch)
