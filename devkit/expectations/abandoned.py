"""The share of the upstream's finished parses whose client was gone: load without use."""

from devkit.expectations.base import Measure
from devkit.expectations.bounds import ShareBound
from devkit.expectations.timing import arm_window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.observable import UPSTREAM
from located_config.count import counted


def _format(value: float, observation: ArmObservation) -> str:
    return f"{value:.0%} ({observation.figures.abandoned:,} of {counted(observation.figures.parses, 'parse')})"


ABANDONED = Measure(
    name="abandoned",
    value=lambda observation: observation.figures.abandoned_share,
    argument=ShareBound,
    absent="no parse ended",
    format_value=_format,
    timing=arm_window,
    needs=UPSTREAM,
    summary="Share of the upstream's finished parses whose client had already disconnected.",
    example="{at_least: 50%}",
)
