"""How the streaming updater puts the events of an entity in order."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field, NonNegativeInt

from located_config.duration import Duration
from pipeline.config.section import Section


class Updater(Section):
    """The events of `rdf-decide`."""

    reorder: Duration = Field(
        default=timedelta(seconds=60),
        description="Event time that an event of an entity waits for earlier ones of other topics. One that comes "
        "later than that becomes a lapsed_action event. `0s` is unsafe: events are decided in the order in which they "
        "are read.",
    )
    continue_at_once: bool = Field(
        default=True,
        description="Whether a revision passes without a wait where it continues the last one of its entity, or is "
        "not newer than that. An earlier event that comes behind it is then a state_inconsistency event.",
    )
    namespaces: Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)] = Field(
        default=(0, 120, 146),
        description="Namespaces of the wiki whose pages are entities. The wiki is that of `rdf.domain`; other pages, "
        "and those of other wikis, are left out.",
    )
