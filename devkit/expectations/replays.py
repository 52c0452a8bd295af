"""Whether the same offsets were read again after a restart."""

from devkit.expectations.base import Measure
from devkit.expectations.of_program import ProgramBound
from devkit.expectations.timing import of_restarts

# How often the batch that was repeated most was planned again after its first time.
REPLAYS = Measure(
    "replays",
    lambda observation: observation.replays,
    argument=ProgramBound,
    timing=of_restarts,
    needs=frozenset({"batches"}),
)
# Source offsets read again, each counted as often as it was.
REPLAYED_OFFSETS = Measure(
    "replayed_offsets",
    lambda observation: observation.replayed_offsets,
    timing=of_restarts,
    needs=frozenset({"batches", "offsets"}),
)
