"""A dump that a Wikibase makes of its entities while they are changed: which revision it has of each.

    dump: { begins: 40s, takes: 2m }    of n entities, number k is read at 40s + k/n of two minutes

The entities are read in order of their pages. What happens to one afterwards is not in the dump, whenever it ends.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from devkit.traffic.records import DumpedEntities
from located_config.duration import Duration, PositiveDuration

if TYPE_CHECKING:  # a file that is only checked needs no vocabulary
    from devkit.traffic.entity_life import EntityLife


class WikibaseDump(BaseModel):
    """When it is made, in event time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    begins: Duration = Field(description="When the first entity is read, in event time.", examples=["40s"])
    takes: PositiveDuration = Field(
        description="Time from the first entity to the end, in event time; each entity takes an equal part of it.",
        examples=["2m"],
    )

    @property
    def ends(self) -> timedelta:
        """When it is complete."""
        return self.begins + self.takes


def dump_entities(dump: WikibaseDump, lives: "Sequence[EntityLife]", epoch: datetime) -> DumpedEntities:
    """`lives` are those of all entities at the traffic's end, `epoch` is when the traffic begins."""
    read = {life.id: life.revision_at(dump.begins + dump.takes * n / len(lives)) for n, life in enumerate(lives)}
    revisions = {entity: revision for entity, revision in read.items() if revision is not None}
    return DumpedEntities(epoch + dump.begins, epoch + dump.ends, revisions)
