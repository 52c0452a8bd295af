"""The memory of a program in its container, and how often it was killed at a limit.

container_kills: {at_least: 1}      how often a process exceeded a limit
peak_memory: {at_most: 2GiB}        the largest memory of all processes of the program together
"""

from collections.abc import Iterator
from typing import Any

from devkit.expectations.base import Measure
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.expectations.program_argument import ProgramBound, ProgramSizeBound
from devkit.observe.arm_observation import ArmObservation

_ABSENT = "the scenario has no container"


def _kills(observation: ArmObservation) -> int | None:
    container = observation.figures.container
    return None if container is None else len(container.kills)


def _format_kills(value: int, observation: ArmObservation) -> str:
    container = observation.figures.container
    assert container is not None
    return f"{value} ({container.kills[-1].text})" if container.kills else f"{value}"


def _peak(observation: ArmObservation) -> int | None:
    container = observation.figures.container
    return None if container is None or not container.peak_memory else container.peak_memory


def _format_peak(value: int, observation: ArmObservation) -> str:
    container = observation.figures.container
    assert container is not None
    return f"{value / (1 << 20):.0f}MiB ({container.measure})"


def _flaws(_argument: Any, arm: CheckedArm) -> Iterator[Flaw]:
    if arm.container is None:
        yield Flaw("the scenario gives its programs no container: say `container: {memory: 2GiB}`")


CONTAINER_KILLS = Measure(
    name="container_kills",
    value=_kills,
    argument=ProgramBound,
    absent=_ABSENT,
    format_value=_format_kills,
    flaws=_flaws,
    summary="Number of times that the program was killed at a limit of its `container`.",
    example="{at_least: 1}",
)
PEAK_MEMORY = Measure(
    name="peak_memory",
    value=_peak,
    argument=ProgramSizeBound,
    absent=_ABSENT,
    format_value=_format_peak,
    flaws=_flaws,
    summary="Largest memory of all processes of the program together, over all samples, in a `container`.",
    example="{at_most: 2GiB}",
)
