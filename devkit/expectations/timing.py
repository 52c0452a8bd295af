"""Whether a finding depends on time, and in which window of the arm: there a busy machine may change it."""

from collections.abc import Callable
from datetime import timedelta
from signal import SIGKILL, SIGTERM
from typing import Any

from devkit.expectations.bounds import Range
from devkit.headroom.shortage import Window
from devkit.observe.arm_end import EndByDeadline, EndByRefusal, EndByStep
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.logs.timeouts import names_timeout

_BY_RESTARTS = frozenset({"restarts", "replays", "gave_up"})
"""Ends after which the program had more to do."""
_PROGRESS_ENDS = _BY_RESTARTS | {"drained"}
"""Ends that say themselves what was done by then; all others cut an arm short at a time."""

_SIGNALLED = frozenset({-SIGKILL, -SIGTERM})
"""Exit codes of a process that got a signal from outside."""

Timing = Callable[[Range[Any], ArmObservation], Window | None]


def timeless(_argument: Range[Any], _observation: ArmObservation) -> Window | None:
    """A slower machine gives the same result, only later."""
    return None


def arm_window(_argument: Range[Any], _observation: ArmObservation) -> Window | None:
    """For progress by the arm's end, and for timeouts of clients."""
    return "arm"


def commit_window(_argument: Range[Any], _observation: ArmObservation) -> Window | None:
    """For what happens before a batch is committed."""
    return "commit"


def bound_window(argument: Range[Any], _observation: ArmObservation) -> Window | None:
    """For a duration: any part of the arm as long as its bound may change it."""
    bound = argument.at_most if argument.at_most is not None else argument.at_least
    return bound if isinstance(bound, timedelta) else "arm"


def drain_window(_argument: Range[Any], observation: ArmObservation) -> Window | None:
    """For what still grows until all events are committed."""
    return None if observation.drained else "arm"


def fetch_window(_argument: object, observation: ArmObservation) -> Window | None:
    """For the outcome of fetches: a fetch that timed out gave an error event in place of the expected outcome."""
    return "commit" if observation.audit.timed_out else None


def failed_batch_window(argument: Range[Any], observation: ArmObservation) -> Window | None:
    """For the batch that failed last: a stall, a client's timeout and a fetch's timeout depend on time."""
    last = observation.main.failures[-1:]
    return (
        "commit" if any(is_time_dependent(text, observation) for text in last) else fetch_window(argument, observation)
    )


def restart_window(_argument: object, observation: ArmObservation) -> Window | None:
    """For restarts and the replays that follow them: a stall or a client's timeout depends on time.

    Restarts with another failure, by a limit of the container or by a signal (a fault of the scenario sends one, a busy
    machine does not) happen on any machine.
    """
    slow = len(observation.main.stalls) + sum(
        names_timeout(failure) for failure in observation.main.failures if failure not in observation.main.stalls
    )
    container = observation.figures.container
    signalled = sum(code in _SIGNALLED for code in observation.main.exit_codes)
    explained = len(observation.main.failures) - slow + max(len(container.kills) if container else 0, signalled)
    return None if observation.main.restarts and explained >= observation.main.restarts else "commit"


def end_window(observation: ArmObservation) -> Window | None:
    """For the arm's end. A deadline or another time limit depends on time; a refused start or a failed step does not.

    An end by restarts or replays depends on time as these do.
    """
    if isinstance(observation.end, EndByDeadline):
        return "arm"
    if isinstance(observation.end, EndByRefusal | EndByStep):
        return None
    reached = observation.end.reached.keys()
    if reached - _PROGRESS_ENDS:
        return "arm"
    return restart_window(None, observation) if reached & _BY_RESTARTS else None


def is_time_dependent(failure: str, observation: ArmObservation) -> bool:
    """Whether the failure is a stall or a client's timeout, which more time would have prevented."""
    return failure in observation.main.stalls or names_timeout(failure)
