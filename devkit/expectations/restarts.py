"""How often the supervisor restarted a program."""

from devkit.expectations.base import Measure
from devkit.expectations.program_argument import ProgramBound
from devkit.expectations.timing import restart_window

RESTARTS = Measure(
    name="restarts",
    value=lambda observation: observation.main.restarts,
    argument=ProgramBound,
    timing=restart_window,
    summary="Number of times that the supervisor restarted the program.",
    example="{at_least: 2}",
)
