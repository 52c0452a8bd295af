"""Whether the same offsets were read again after a restart."""

from devkit.expectations.base import Measure

# How often the batch that was repeated most was planned again after its first time.
REPLAYS = Measure("replays", lambda observation: observation.replays)
# Source offsets read again, each counted as often as it was.
REPLAYED_OFFSETS = Measure("replayed_offsets", lambda observation: observation.replayed_offsets)
