"""The last plan of an aligned source as levels: how far each partition is, and who waits for whom."""

from pipeline.aligned.plan_status import PlanStatus
from pipeline.metrics import catalogue
from pipeline.metrics.figures import Recorder


def record_event_times(planned: PlanStatus, levels: Recorder) -> None:
    """In the place of the plan before."""
    levels.forget(catalogue.EVENT_TIME_WAITING)  # what was taken waits no more
    if planned.common_ms is not None:
        levels.set(catalogue.EVENT_TIME_COMMON, planned.common_ms / 1000)
    for one in planned.partitions:
        labels = one.topic, str(one.partition)
        if one.read_ms is not None:
            levels.set(catalogue.EVENT_TIME, one.read_ms / 1000, *labels)
        if one.waiting_ms is not None:
            levels.set(catalogue.EVENT_TIME_WAITING, one.waiting_ms / 1000, *labels)
        levels.set(catalogue.EVENT_TIME_HELD, one.held_s, *labels)
        levels.set(catalogue.EVENT_TIME_IDLE, float(one.idle), *labels)
