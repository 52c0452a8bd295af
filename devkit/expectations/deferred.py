"""How many source events ever stood in the deferral topic."""

from devkit.expectations.base import Measure
from devkit.expectations.timing import of_commit

DEFERRED = Measure(
    "deferred",
    lambda observation: observation.figures.deferred_ever,
    timing=of_commit,
    needs=frozenset({"deferrals"}),
    summary="Number of source events that ever stood in the deferral topic.",
    example="{at_least: 1}",
)
