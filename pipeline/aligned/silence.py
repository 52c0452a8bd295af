"""Which partitions have been silent for long enough to hold the others back no longer.

Silence is counted by this process's clock from the look at which a partition's end was first seen where it is: what
went on before the process began is not known, so every start gives each partition the whole time once more.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from pipeline.aligned.horizon import Offsets
from pipeline.records.record import SourcePartition


@dataclass
class SilenceWatch:
    """`idle_after_s` is in seconds."""

    idle_after_s: float
    _seen: dict[SourcePartition, tuple[int, float]] = field(default_factory=dict)

    def look(
        self, ends: Offsets, now_s: float, without_event: Collection[SourcePartition] = ()
    ) -> frozenset[SourcePartition]:
        """The partitions that are idle at `now_s`, where each ends at `ends`. Those `without_event` have none that
        waits: what moved their end is an aborted transaction or a marker, which ends no silence.
        """
        for partition, end in ends.items():
            known = self._seen.get(partition)
            if known is None or (known[0] != end and partition not in without_event):
                self._seen[partition] = end, now_s
        return frozenset(one for one in ends if now_s - self._seen[one][1] >= self.idle_after_s)

    def silent_s(self, partition: SourcePartition, now_s: float) -> float:
        """For how long a partition has been silent at `now_s`; 0 for one that was never looked at."""
        return now_s - self._seen[partition][1] if partition in self._seen else 0.0
