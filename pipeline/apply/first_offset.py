"""Where `apply` begins to read: where the store says, or where the operator says who starts it, and never guessed.

the store has an offset, no --new   there; Kafka's committed offset only tells of a store that was restored
the store has none, --new           where --new says
one without the other               refused: it would be guessed, or not be obeyed
of a topic with another id          where --new says, else refused: the topic was made again
before the topic's first offset     refused: mutations are gone
behind the topic's end              refused: it is another topic by the same name
"""

from dataclasses import dataclass
from typing import Literal

from pipeline.apply.mutation_store import PARTITION
from pipeline.apply.mutation_topic import BOOTSTRAP_AGAIN
from pipeline.apply.patch import NEXT_OFFSET, TOPIC_ID, position_node
from pipeline.config.start_position import CHOICES
from pipeline.errors import RefusedError

Keeper = Literal["store", "kafka"]
_HOLDERS = {"store": "the store", "kafka": "the consumer group"}


@dataclass(frozen=True, slots=True)
class KeptOffset:
    """The next offset of `topic` as its `keeper` has it; None where it has none. `first` and `end` are the topic's.
    `topic_id` is Kafka's id of the topic, None where the broker has none, and `kept_ids` what the keeper has of it.
    """

    topic: str
    keeper: Keeper
    offset: int | None
    first: int
    end: int
    topic_id: str | None = None
    kept_ids: frozenset[str] = frozenset()

    @property
    def is_of_another_topic(self) -> bool:
        """Whether the offset is that of a topic by the same name, which is gone."""
        return bool(self.kept_ids) and self.topic_id is not None and self.kept_ids != {self.topic_id}


def choose_offset(kept: KeptOffset, *, new: str | None, new_offset: int | None) -> int:
    """The first offset to read; `new` is the text of `--new`, and `new_offset` what it means in the topic. Raises
    RefusedError.
    """
    holder = _HOLDERS[kept.keeper]
    if kept.offset is None:
        if new_offset is None:
            raise RefusedError(
                f"{holder} has no offset of topic {kept.topic} to continue from",
                hint=f"state where to begin: --new {CHOICES}; after a dump was loaded, the oldest modification in it",
            )
        return new_offset
    if kept.is_of_another_topic:
        if new_offset is None:
            ids = ", ".join(sorted(kept.kept_ids))
            raise RefusedError(
                f"{holder} has offset {kept.offset} of a topic {kept.topic} with id {ids}, and "
                f"the id is {kept.topic_id} now: the topic was made again",
                hint="--new earliest applies all that it has to this store; if mutations of the old one are missing, "
                f"{BOOTSTRAP_AGAIN}; if it has the same records at the same offsets, remove the id from the store: "
                f"{_delete(kept, TOPIC_ID)}",
            )
        return new_offset
    if new_offset is not None:
        raise RefusedError(
            f"{holder} has offset {kept.offset} of topic {kept.topic}, and --new {new} would not be obeyed",
            hint=f"remove --new to continue from it{_removal(kept)}",
        )
    if kept.offset < kept.first:
        raise RefusedError(
            f"{holder} has offset {kept.offset} of topic {kept.topic}, which now begins at {kept.first}: "
            f"{kept.first - kept.offset} records are gone",
            hint=BOOTSTRAP_AGAIN,
        )
    if kept.offset > kept.end:
        raise RefusedError(
            f"{holder} has offset {kept.offset} of topic {kept.topic}, which ends at {kept.end}: the topic "
            "was made again, or has lost records",
            hint=BOOTSTRAP_AGAIN,
        )
    return kept.offset


def _removal(kept: KeptOffset) -> str:
    if kept.keeper == "kafka":
        return ", or name another source.group"
    return f", or remove it from the store: {_delete(kept, NEXT_OFFSET)}"


def _delete(kept: KeptOffset, predicate: str) -> str:
    return f"DELETE WHERE {{ {position_node(kept.topic, PARTITION)} {predicate} ?any }}, in its graph"
