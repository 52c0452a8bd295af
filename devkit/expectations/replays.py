"""Whether the same offsets were read again after a restart."""

from devkit.expectations.base import Measure
from devkit.expectations.program_argument import ProgramBound
from devkit.expectations.timing import restart_window

REPLAYS = Measure(
    name="replays",
    value=lambda observation: observation.main.replays,
    argument=ProgramBound,
    timing=restart_window,
    needs=frozenset({"batches"}),
    summary="Number of repeats of the batch that was repeated most.",
    example="{at_least: 1}",
)
REPLAYED_OFFSETS = Measure(
    name="replayed_offsets",
    value=lambda observation: observation.replayed_offsets,
    timing=restart_window,
    needs=frozenset({"batches", "checkpoint"}),
    summary="Number of source offsets that were read again; each repeated read of an offset counts.",
    example="{at_least: 2}",
)
