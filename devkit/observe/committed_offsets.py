"""Up to where a job has read what another program writes, by its checkpoint."""

from dataclasses import dataclass
from typing import ClassVar

from devkit.observe.checkpoint import Checkpoint, Offsets
from devkit.observe.kafka.deferrals import Deferrals


@dataclass(frozen=True)
class CommittedOffsets:
    """See `FollowerOffsets`. `topics` are those that it reads."""

    checkpoint: Checkpoint
    topics: tuple[str, ...]
    deferrals: Deferrals
    part: ClassVar[str] = "object-store"

    def look(self) -> Offsets | None:
        """None while records that it has committed are deferred. Raises StackError."""
        # In this order: what a committed batch deferred is in the topic before its commit is.
        committed = dict.fromkeys(((topic, 0) for topic in self.topics), 0) | self.checkpoint.committed()
        return None if self.deferrals.catch_up() else committed

    def close(self) -> None:
        """The arm closes the deferral topic."""
