"""How many requests waited for the upstream's parsers at once, at the worst."""

from devkit.expectations.base import Measure
from devkit.expectations.timing import arm_window
from devkit.observe.observable import UPSTREAM

PEAK_QUEUE = Measure(
    name="peak_queue",
    value=lambda observation: observation.figures.peak_queue,
    timing=arm_window,
    needs=UPSTREAM,
    summary="Largest number of requests that waited for the upstream's parsers at once.",
    example="{at_least: 20}",
)
