"""How many requests the upstream got for each distinct fetch: 1 when every fetch is asked for once."""

from collections.abc import Iterator

from devkit.expectations.base import Measure
from devkit.expectations.bounds import Number, NumberBound
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.expectations.timing import arm_window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.observable import UPSTREAM
from located_config.count import counted


def _format(value: float, observation: ArmObservation) -> str:
    figures = observation.figures
    return (
        f"{value:.2f} ({counted(figures.requests, 'request')} for {counted(figures.fetches, 'fetch', 'fetches')}, "
        f"at most {figures.max_attempt} for a fetch)"
    )


def _flaws(argument: Number, _arm: CheckedArm) -> Iterator[Flaw]:
    if argument.at_most is None and argument.at_least is not None and argument.at_least <= 1:
        text = "each fetch takes a request, so it is never below 1: write a higher bound, or at_most"
        yield Flaw(text, ("at_least",), is_playable=True)


AMPLIFICATION = Measure(
    name="amplification",
    value=lambda observation: observation.figures.amplification,
    argument=NumberBound,
    absent="no fetch",
    format_value=_format,
    timing=arm_window,
    flaws=_flaws,
    needs=UPSTREAM,
    summary=(
        "Requests that the upstream got for each distinct fetch, replays included: 1 when every fetch is "
        "requested once."
    ),
    example="{at_least: 2}",
)
