"""How often the supervisor restarted a program."""

from devkit.expectations.base import Measure
from devkit.expectations.of_program import ProgramBound
from devkit.expectations.timing import of_restarts

RESTARTS = Measure(
    name="restarts",
    of=lambda observation: observation.main.restarts,
    argument=ProgramBound,
    timing=of_restarts,
    summary="Number of times that the supervisor restarted the program.",
    example="{at_least: 2}",
)
