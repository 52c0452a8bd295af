"""A start waits for brokers that are away: one deadline, `stall_timeout`, for the brokers of source and sink together.

Tried again and again with a short pause, so that a job goes on within seconds of their return.
"""

import time
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta

from kafka.errors import KafkaError

from pipeline import log
from pipeline.cluster import BrokersAt, Cluster, sink_brokers, source_brokers
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.connection_failures import connection_failures
from pipeline.errors import PipelineError, RefusedError
from pipeline.events import BrokersAwaited
from pipeline.limits.access import refused
from pipeline.limits.read import admin_at

# Of one attempt, within which a refused connection is tried again: short at first, so that the log soon says that the
# start waits; longer for brokers that are slow.
_ATTEMPTS_S = (2.0, 5.0)
_LONGEST_S = 10.0
_PAUSE_S = 0.5


def await_brokers(
    config: PipelineConfig,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Return when the brokers of source and sink have answered. Raises PipelineError at the deadline, RefusedError at
    once for a login that is refused.
    """
    limit = config.stall_timeout
    until = clock() + limit.total_seconds()
    for brokers in {str(one): one for one in (source_brokers(config), sink_brokers(config))}.values():
        attempts = iter(_ATTEMPTS_S)
        while (
            reason := _failure(brokers, min(next(attempts, _LONGEST_S), max(until - clock(), _PAUSE_S)))
        ) is not None:
            remaining_s = until - clock()
            if remaining_s <= 0:
                raise _unreachable(brokers, reason, limit)
            log.say(BrokersAwaited(bootstrap=str(brokers), reason=reason, remaining_s=round(remaining_s, 3)))
            sleep(min(_PAUSE_S, remaining_s))


def _failure(brokers: BrokersAt, within_s: float) -> str | None:
    """Why no broker answers, None when one does. Raises RefusedError where a restart cannot help."""
    with connection_failures() as why:
        try:
            with closing(admin_at(brokers, within_s=within_s)):
                return None
        except (KafkaError, OSError, ValueError) as error:
            reasons = why or [f"{type(error).__name__}: {error}"]
    if isinstance(brokers, Cluster):
        of_cluster = refused(brokers, reasons)
        if isinstance(of_cluster, RefusedError):
            raise of_cluster
    return reasons[-1]


def _unreachable(brokers: BrokersAt, reason: str, limit: timedelta) -> PipelineError:
    return PipelineError(
        f"kafka broker unreachable at {brokers} ({reason}); the start waited {limit.total_seconds():g} s",
        hint="start the brokers, or correct `bootstrap_servers`; `stall_timeout` is how long a start waits",
    )
