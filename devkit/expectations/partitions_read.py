"""Of how many of the source partitions that have events some were committed."""

from devkit.expectations.base import Measure
from devkit.expectations.bounds import ShareBound
from devkit.expectations.timing import drain_window
from devkit.observe.arm_observation import ArmObservation


def _share(observation: ArmObservation) -> float | None:
    sample = observation.last_sample
    return sample.partitions_read / sample.partitions if sample.partitions else None


def _format(_share: float, observation: ArmObservation) -> str:
    sample = observation.last_sample
    return f"{sample.partitions_read} of {sample.partitions} partitions"


PARTITIONS_READ = Measure(
    name="partitions_read",
    value=_share,
    argument=ShareBound,
    unknown="no source partition has an event",
    format_value=_format,
    timing=drain_window,
    needs=frozenset({"offsets"}),
    summary="Of the source partitions with events, the share with at least one committed event at the arm's end.",
    example="100%",
)
