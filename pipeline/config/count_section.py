"""How edits are counted by `edit-counts`."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from located_config.duration import Duration, PositiveDuration
from pipeline.config.section import Section

_LEAST = timedelta(milliseconds=1)


class Count(Section):
    """By page and window, of event time: the record's own timestamp."""

    window: Annotated[PositiveDuration, Field(ge=_LEAST)] = Field(
        default=timedelta(minutes=1), description="Length of a window. The first begins at the epoch."
    )
    delay: Annotated[Duration, Field(ge=_LEAST)] = Field(
        default=timedelta(seconds=30),
        description="Delay of the watermark: event time for which a window stays open behind the latest event that "
        "was read. Under `source.read: aligned`, `source.lateness` must be no more than this.",
    )
