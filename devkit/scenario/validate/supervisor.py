"""Checks of each arm's supervisor policy: keys that have no effect beside its other keys."""

from collections.abc import Iterator

from devkit.programs.supervisor_policy import SupervisorPolicy
from devkit.scenario.resolve import ResolvedScenario
from located_config.count import counted
from located_config.duration import format_duration
from located_config.place import Location
from located_config.problem import Problem


def check_supervisors(resolved: ResolvedScenario) -> Iterator[Problem]:
    """Problems of `supervisor` and of the arms' own, with their places.

    The model cannot find them: an arm may write one of two keys, and leave the other to the shared policy.
    """
    for name, arm in resolved.arms.items():
        own = resolved.scenario.arms[name].supervisor
        for key, text, remedy in _problems(arm.supervisor):
            place: Location = ("supervisor", key)
            yield Problem(("arms", name, *place) if own and key in own.model_fields_set else place, text, remedy)


def _problems(policy: SupervisorPolicy) -> Iterator[tuple[str, str, str]]:
    if policy.delay > policy.max_delay:
        text = f"is shorter than the delay of {format_duration(policy.delay)}"
        yield "max_delay", text, "raise it, or shorten `delay`"
    if policy.within is None:
        return
    if policy.attempts is None:
        yield "within", "there is no number of restarts to count in it", "write `attempts: 5` beside it"
    elif policy.attempts == 0:
        yield "within", "with `attempts: 0` no restart is counted", "leave it out, or raise `attempts`"
    elif policy.least_time_of_attempts >= policy.within:
        restarts, least = counted(policy.attempts, "restart"), format_duration(policy.least_time_of_attempts)
        text = f"{restarts} take {least} or longer by their delays, so the supervisor never gives up"
        yield "within", text, "raise it, or lower `attempts` or `delay`"
