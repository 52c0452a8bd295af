"""How many requests the upstream got for each distinct fetch: 1 when every fetch is asked for once."""

from devkit.expectations.base import Measure
from devkit.expectations.bounds import NumberBound
from devkit.expectations.timing import of_arm
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.observable import UPSTREAM
from located_config.count import counted


def _tell(value: float, observation: ArmObservation) -> str:
    figures = observation.figures
    return (
        f"{value:.2f} ({counted(figures.requests, 'request')} for {counted(figures.fetches, 'fetch', 'fetches')}, "
        f"at most {figures.max_attempt} for one)"
    )


AMPLIFICATION = Measure(
    "amplification",
    lambda observation: observation.figures.amplification,
    argument=NumberBound,
    absent="no fetch",
    tell=_tell,
    timing=of_arm,
    needs=UPSTREAM,
    summary=(
        "Requests that the upstream got for each distinct fetch, replays included: 1 when every fetch is "
        "requested once."
    ),
    example="{at_least: 2}",
)
