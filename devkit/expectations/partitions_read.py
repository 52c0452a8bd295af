"""Of how many of the source partitions that have events some were committed."""

from devkit.expectations.base import Measure
from devkit.expectations.bounds import ShareBound
from devkit.expectations.committed_offsets import partitions_read, why_no_offsets
from devkit.expectations.timing import drain_window
from devkit.observe.arm_observation import ArmObservation


def _share(observation: ArmObservation) -> float | None:
    count, partitions = partitions_read(observation), observation.last_sample.partitions
    return count / partitions if count is not None and partitions else None


def _why_unknown(observation: ArmObservation) -> str:
    return why_no_offsets(observation) if partitions_read(observation) is None else "no source partition has an event"


def _format(_share: float, observation: ArmObservation) -> str:
    return f"{partitions_read(observation)} of {observation.last_sample.partitions} partitions"


PARTITIONS_READ = Measure(
    name="partitions_read",
    value=_share,
    argument=ShareBound,
    unknown=_why_unknown,
    format_value=_format,
    timing=drain_window,
    summary=(
        "Of the source partitions with events, the share with at least one committed event at the arm's end: by the "
        "checkpoint, or by the consumer group or file in which a command says that it keeps its offsets "
        "(docs/own-pipeline.md). Not observable where none of them has a committed offset."
    ),
    example="100%",
)
