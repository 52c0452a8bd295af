"""The topics of a Wikibase's events: which data centre's they are in, and how late each of them is.

    wikibase_topics:
      active: {eqiad: 0s, codfw: 5m}    changes are in the topics of eqiad, and of codfw from the fifth minute on
      delays: {page-delete: 4s}         each event of both page-delete topics is published up to 4 s after it happened

As MediaWiki has it, all topics have canaries, and those of one data centre the changes.
"""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from located_config.duration import Duration, PositiveDuration

DataCentre = Literal["eqiad", "codfw"]
WikibaseStream = Literal["revision-create", "page-delete", "page-undelete", "page-suppress"]
WIKIBASE_STREAMS: tuple[WikibaseStream, ...] = get_args(WikibaseStream)


class WikibaseTopics(BaseModel):
    """Topics are named `<data centre>.mediawiki.<stream>`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    active: dict[DataCentre, Duration] = Field(
        default={"eqiad": timedelta(0)},
        description="From when on a data centre has the changes, until another one has them; one begins at `0s`. One "
        "that begins after the traffic's end has canaries alone. A data centre that is not named has no topics.",
        examples=[{"eqiad": "0s", "codfw": "5m"}],
    )
    delays: dict[WikibaseStream, PositiveDuration] = Field(
        default={},
        description="How much later than it happens an event of a stream is published at most; each event is by a "
        "delay of its own, so those of one topic are out of order too. Canaries are never late.",
        examples=[{"page-delete": "4s"}],
    )

    @model_validator(mode="after")
    def _one_at_a_time(self) -> Self:
        if timedelta(0) not in self.active.values():
            raise ValueError("active: no data centre has the first changes, write 0s for one")
        if len(set(self.active.values())) < len(self.active):
            raise ValueError("active: two data centres begin at the same time")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """All topics."""
        return tuple(topic for topic, _ in self.streams())

    @property
    def longest_delay(self) -> timedelta:
        """Of all streams."""
        return max(self.delays.values(), default=timedelta(0))

    def topic(self, stream: WikibaseStream, happened: timedelta) -> str:
        """The topic that has the stream's changes of that time."""
        begun = ((begin, centre) for centre, begin in self.active.items() if begin <= happened)
        return topic_name(max(begun)[1], stream)

    def streams(self) -> Iterator[tuple[str, WikibaseStream]]:
        """Each topic with its stream."""
        return topics_of(self.active)


def topics_of(centres: Iterable[DataCentre]) -> Iterator[tuple[str, WikibaseStream]]:
    """Each topic of the data centres with its stream."""
    return ((topic_name(centre, stream), stream) for centre in centres for stream in WIKIBASE_STREAMS)


def topic_name(centre: DataCentre, stream: WikibaseStream) -> str:
    """As MediaWiki names it."""
    return f"{centre}.{stream_name(stream)}"


def stream_name(stream: WikibaseStream) -> str:
    """The `meta.stream` of its events."""
    return f"mediawiki.{stream}"
