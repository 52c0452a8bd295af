"""When a finding depends on time, and on how much of it: what a machine that is short of time would have changed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from devkit.expectations.bounds import Range
from devkit.headroom.shortage import Window
from devkit.observe.arm import ArmObservation
from devkit.observe.arm_end import ConditionName, EndByDeadline
from devkit.observe.timeouts import names_timeout

_CUT_SHORT: frozenset[ConditionName] = frozenset({"restarts", "replays"})
"""Ends after which the program had more to do."""

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
    return _restarts(observation)


def _restarts(observation: ArmObservation) -> Window | None:
    """Restarts by a stall or a client's timeout, and that there were none. One whose process said what else it failed
    of would have come on any machine.
    """
    of_time = len(observation.stalls) + sum(
        names_timeout(failure) for failure in observation.failures if failure not in observation.stalls
    )
    explained = len(observation.failures) - of_time
    return None if observation.restarts and explained >= observation.restarts else "commit"


def of_end(observation: ArmObservation) -> Window | None:
    """The arm's end: by its deadline, or by as many restarts or replays as a machine with more time might not show."""
    if isinstance(observation.end, EndByDeadline):
        return "arm"
    return None if observation.end.reached.keys().isdisjoint(_CUT_SHORT) else _restarts(observation)


def is_of_time(failure: str, observation: ArmObservation) -> bool:
    """Whether a process that had more time would not have failed so: of a stall, or of a client's timeout."""
    return failure in observation.stalls or names_timeout(failure)
