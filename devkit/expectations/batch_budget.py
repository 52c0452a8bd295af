"""How many source events were deferred because their batch was over its budget."""

from devkit.expectations.base import Measure
from devkit.expectations.deferred import check_deferral
from devkit.expectations.timing import commit_window

BATCH_BUDGET = Measure(
    name="batch_budget",
    value=lambda observation: observation.figures.over_budget,
    timing=commit_window,
    flaws=check_deferral,
    needs=frozenset({"deferrals"}),
    summary="Number of source events that were deferred because their batch exceeded `batch_budget`.",
    example="0",
)
