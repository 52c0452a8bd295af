"""How many source events ever stood in the deferral topic."""

from collections.abc import Iterator

from devkit.expectations.base import Measure
from devkit.expectations.bounds import Count
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.expectations.timing import commit_window


def check_deferral(argument: Count, arm: CheckedArm) -> Iterator[Flaw]:
    """An arm that defers nothing."""
    program = arm.main.configured
    if argument.at_least and program is not None and not program.topics.defers:
        yield Flaw("nothing is deferred in this arm: its deferral.policy is none", is_playable=True)


DEFERRED = Measure(
    name="deferred",
    value=lambda observation: observation.figures.deferred_ever,
    timing=commit_window,
    flaws=check_deferral,
    needs=frozenset({"deferrals"}),
    summary="Number of source events that were ever in the deferral topic.",
    example="{at_least: 1}",
)
