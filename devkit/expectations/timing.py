"""When a finding depends on time, and on how much of it: what a machine that is short of time would have changed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from devkit.expectations.bounds import Range
from devkit.headroom.shortage import Window
from devkit.observe.arm_end import EndByDeadline, EndByRefusal, EndByStep
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.logs.timeouts import names_timeout

_BY_RESTARTS = frozenset({"restarts", "replays", "gave_up"})
"""Ends after which the program had more to do."""
_CONTENT = _BY_RESTARTS | {"drained"}
"""Ends that say themselves what was done by then; all others cut an arm short at a time."""

Timing = Callable[[Range[Any], ArmObservation], Window | None]


def timeless(_argument: Range[Any], _observation: ArmObservation) -> Window | None:
    """A slower machine would have come to the same, only later."""
    return None


def of_arm(_argument: Range[Any], _observation: ArmObservation) -> Window | None:
    """How far things go by the arm's end, or which timeouts of clients strike in it."""
    return "arm"


def of_commit(_argument: Range[Any], _observation: ArmObservation) -> Window | None:
    """What happens while a batch has to come to its commit."""
    return "commit"


def of_bound(argument: Range[Any], _observation: ArmObservation) -> Window | None:
    """A duration is held against a bound: any part of the arm that is as long decides it."""
    bound = argument.at_most if argument.at_most is not None else argument.at_least
    return bound if isinstance(bound, timedelta) else "arm"


def of_restarts(_argument: Range[Any], observation: ArmObservation) -> Window | None:
    """Restarts, and the replays that follow them."""
    return restarts_window(observation)


def until_drained(_argument: Range[Any], observation: ArmObservation) -> Window | None:
    """What more of is to come, as long as not all is committed."""
    return None if observation.drained else "arm"


def of_fetches(_argument: object, observation: ArmObservation) -> Window | None:
    """A fetch that timed out made an error event of what had to leave otherwise, or to fail. A process that stalled
    comes to it again.
    """
    return "commit" if observation.audit.timed_out else None


def of_failed_batch(argument: Range[Any], observation: ArmObservation) -> Window | None:
    """Which batch failed last, and that none did: by a stall or a client's timeout, or as a fetch timed out first."""
    last = observation.main.failures[-1:]
    return "commit" if any(is_of_time(text, observation) for text in last) else of_fetches(argument, observation)


def restarts_window(observation: ArmObservation) -> Window | None:
    """Restarts by a stall or a client's timeout, and that there were none. One whose process said what else it failed
    of would have come on any machine, and so would one of a process that was over a limit of its container.
    """
    of_time = len(observation.main.stalls) + sum(
        names_timeout(failure) for failure in observation.main.failures if failure not in observation.main.stalls
    )
    container = observation.figures.container
    explained = len(observation.main.failures) - of_time + (len(container.kills) if container else 0)
    return None if observation.main.restarts and explained >= observation.main.restarts else "commit"


def of_end(observation: ArmObservation) -> Window | None:
    """The arm's end: by its deadline or another moment, or by as many restarts or replays as a machine with more time
    might not show. A refused start is no matter of time, nor is a step that failed.
    """
    if isinstance(observation.end, EndByDeadline):
        return "arm"
    if isinstance(observation.end, EndByRefusal | EndByStep):
        return None
    reached = observation.end.reached.keys()
    if reached - _CONTENT:
        return "arm"
    return restarts_window(observation) if reached & _BY_RESTARTS else None


def is_of_time(failure: str, observation: ArmObservation) -> bool:
    """Whether a process that had more time would not have failed so: of a stall, or of a client's timeout."""
    return failure in observation.main.stalls or names_timeout(failure)
