"""Whether the same offsets were read again after a restart."""

from devkit.expectations.base import Measure
from devkit.expectations.of_program import ProgramBound
from devkit.expectations.timing import of_restarts

REPLAYS = Measure(
    name="replays",
    of=lambda observation: observation.main.replays,
    argument=ProgramBound,
    timing=of_restarts,
    needs=frozenset({"batches"}),
    summary="Number of repeats of the batch that was repeated most.",
    example="{at_least: 1}",
)
REPLAYED_OFFSETS = Measure(
    name="replayed_offsets",
    of=lambda observation: observation.replayed_offsets,
    timing=of_restarts,
    needs=frozenset({"batches", "offsets"}),
    summary="Number of source offsets that were read again; each repeated read of an offset counts.",
    example="{at_least: 2}",
)
