"""What a scenario says about its traffic, under `traffic:`.

    traffic: {seed: 7, rate: 20/s, for: 10s, pages: {Huge: {edits: 1, event_bytes: 4160950}}}

Of a program that reads several topics, the events of a further one are a stream with a name of its own:

    traffic: {seed: 7, rate: 20/s, for: 10s, streams: {links: {topic: links.v1, generator: links, rate: 5/s, for: 10s}}}

What happened over minutes can be published in seconds, with its own times (`devkit.traffic.event_time`):

    traffic: {seed: 7, rate: 10/s, for: 10m, event_times: {published: x60}}

What was captured from a real topic is played in place of all that:

    traffic: {from: capture.jsonl, rate: x2}
"""

from collections.abc import Iterator
from datetime import timedelta
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Self
from zlib import crc32

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from devkit.traffic.capture.playback import RATE_OR_TIMES, FromCapture, Playback, played
from devkit.traffic.event_patch import Patch
from devkit.traffic.event_time import NamedOrOwn, OwnEventTime
from devkit.traffic.registry import GENERATORS
from devkit.traffic.shape import spans
from devkit.traffic.stream import NamedPage, Paced, Stream
from located_config.duration import format_duration
from located_config.near import near_miss
from located_config.place import Location
from located_config.rate import Rate

DIRECTORY = "directory"
"""Under this name the context of a validation says from where the path of a capture, or of another file, is."""

_SOURCE_GENERATOR = "wikibase_source"

TRAFFIC = "traffic"
"""What the time of all of the traffic is called, as a part of an arm."""


def _known(name: str) -> str:
    if name not in GENERATORS:
        remedy = near_miss(name, GENERATORS)
        raise PydanticCustomError("generator", "there is no generator {name}", {"name": repr(name), "hint": remedy})
    return name


class _Schema:
    """The generators there are when the schema is written."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(core) | {"enum": list(GENERATORS)}


Generator = Annotated[
    str,
    AfterValidator(_known),
    _Schema(),
    Field(
        description="Kind of the events: `page_change`, `wikibase_change` (operations for `rdf-resolve`), "
        "`wikibase_source` (the events from which operations are made), or one of your own (docs/extend.md).",
        examples=["page_change"],
    ),
]
StreamName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,30}$")]


class FurtherStream(Paced):
    """The events of a further source topic, beside those of the first one."""

    topic: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="One of the main program's source topics. Several streams may share one.",
        examples=["acme.links_change.v1"],
    )
    generator: Generator = "page_change"

    @model_validator(mode="after")
    def _of_one_topic(self) -> Self:
        if self.generator == _SOURCE_GENERATOR:
            raise ValueError(f"generator: {_SOURCE_GENERATOR} has topics of its own, write it under traffic itself")
        return self


def _seed_or_capture(schema: dict[str, Any]) -> None:
    """Phases say what `rate` and `for` are, and a capture says all but what is written beside it."""
    del schema["required"]
    schema |= {"if": {"not": {"required": ["from"]}}, "then": {"required": ["seed"]}}


class TrafficSpec(Stream):
    """The events of the first source topic, and by name the streams of further ones; equal specs give equal bytes."""

    model_config = ConfigDict(json_schema_extra=_seed_or_capture)

    from_: FromCapture | None = Field(
        default=None,
        alias="from",
        description="A capture that is played, by its path from this file: events, keys, partitions and intervals are "
        "its own, and only `rate`, `seed`, `wikis` and `event_times` can be said beside it (docs/traffic.md).",
        examples=["capture.jsonl"],
    )
    rate: Annotated[Rate, WithJsonSchema(RATE_OR_TIMES)] = Field(
        description="Rate of the drawn events; those of `pages` come on top. Of a capture: `x2` is twice its own pace, "
        "in the intervals in which its events came, and a rate such as `20/s` has them evenly spaced. Default for a "
        "capture: `x1`.",
        examples=["20/s", "x2"],
    )
    generator: Generator = "page_change"
    event_times: NamedOrOwn = Field(
        default="fixed",
        description="When events say they were received (`meta.dt`). `fixed`: on 2026-03-02, so that equal seeds give "
        "equal bytes. `when published`: by the clock when each is published, which `fetch.not_found_grace` needs; "
        "bytes then differ from run to run in that time alone. `{published: x60}`: on 2026-03-02 as well, at the times "
        "that `rate`, `for` and `phases` say, and published 60 times as fast; each record carries its event's time as "
        "CreateTime, and its topic keeps it whatever its age.",
        examples=["fixed", {"published": "x60"}],
    )
    streams: dict[StreamName, FurtherStream] = Field(
        default={},
        description="Streams for further source topics, by a name that is free. They begin when the traffic begins.",
    )

    @model_validator(mode="before")
    @classmethod
    def _of_capture(cls, value: Any, info: ValidationInfo) -> Any:
        # A run that is stretched has one that was read already.
        if not isinstance(value, dict) or value.get("from") is None or isinstance(value["from"], Playback):
            return value
        return played(value, (info.context or {}).get(DIRECTORY, Path()))

    @model_validator(mode="before")
    @classmethod
    def _in_topics_of_a_wikibase(cls, value: Any) -> Any:
        if not isinstance(value, dict) or value.get("generator") != _SOURCE_GENERATOR:
            return value
        return {**value, "wikibase_topics": value.get("wikibase_topics") or {}}

    @model_validator(mode="after")
    def _topics_by_generator(self) -> Self:
        if self.wikibase_topics is not None and self.generator != _SOURCE_GENERATOR:
            raise ValueError(f"wikibase_topics: generator {self.generator} has one topic, leave them out")
        return self

    @model_validator(mode="after")
    def _dump_of_a_wikibase(self) -> Self:
        if self.dump is None:
            return self
        if self.generator != _SOURCE_GENERATOR:
            raise ValueError(
                f"dump: generator {self.generator} has none, leave it out or write `generator: {_SOURCE_GENERATOR}`"
            )
        if self.own_event_time is None:
            raise ValueError("dump is of event time, write `event_times: { published: at once }` under traffic")
        if self.dump.ends > self.for_:
            ends, length = format_duration(self.dump.ends), format_duration(self.for_)
            raise ValueError(f"dump: it ends at {ends}, after the traffic's end at {length}; lower begins or takes")
        return self

    @model_validator(mode="after")
    def _each_page_once(self) -> Self:
        titles = {name: {title.replace("_", " ") for title in stream.pages} for name, stream in self._by_name().items()}
        for first, second in combinations(titles, 2):
            if both := titles[first] & titles[second]:
                raise ValueError(f"page {min(both)!r} is in two streams, name it in one of them")
        return self

    @model_validator(mode="after")
    def _each_phase_once(self) -> Self:
        names = {TRAFFIC}
        for phase in (phase for stream in self._by_name().values() for phase in stream.phases):
            if phase.name in names:
                raise ValueError(f"two parts of the traffic are called {phase.name!r}, name one of them otherwise")
            names |= {phase.name} if phase.name else set()
        return self

    @model_validator(mode="after")
    def _own_event_time_where_it_is_needed(self) -> Self:
        if self.own_event_time is None:
            for name, stream in self._by_name().items():
                closing = stream.canaries.closing if stream.canaries else None
                settings = {"shift": stream.shift, "pauses": stream.pauses, "canaries.closing": closing}
                if needing := next((key for key, value in settings.items() if value), None):
                    place = f"streams.{name}.{needing}" if name else needing
                    raise ValueError(
                        f"{place} is of event time, write `event_times: {{ published: x1 }}` under traffic"
                    )
        elif self.from_ is not None:
            raise ValueError("event_times: a capture has times and a pace of its own, write fixed or when published")
        return self

    @property
    def own_event_time(self) -> OwnEventTime | None:
        """None where events happen when they are published."""
        return self.event_times if isinstance(self.event_times, OwnEventTime) else None

    def _published(self, happened: timedelta) -> timedelta:
        own = self.own_event_time
        return happened if own is None else own.after(happened)

    @property
    def named_phases(self) -> dict[str, tuple[timedelta, timedelta]]:
        """Begin and end of each named phase, from the traffic's beginning on."""
        every = (span for one in self._by_name().values() for span in spans(one.phases))
        return {
            phase.name: (self._published(begin), self._published(begin + phase.for_))
            for phase, begin in every
            if phase.name
        }

    @property
    def event_count(self) -> int:
        """All events of all streams, those of named pages included."""
        if self.from_ is not None:
            return self.from_.outline.count
        return super().event_count + sum(stream.event_count for stream in self.streams.values())

    @property
    def last_event(self) -> timedelta:
        """When the last event of all streams is published, after the traffic began."""
        if self.from_ is not None:
            return self.for_
        last = max(super().last_event, *(stream.last_event for stream in self.streams.values()), timedelta())
        return self._published(last)

    def pages_at(self) -> Iterator[tuple[Location, NamedPage]]:
        """The named pages of all streams, each with its place in a scenario file; none of a capture."""
        for name, stream in self._by_name().items():
            base: Location = ("traffic", "streams", name) if stream is not self else ("traffic",)
            yield from (((*base, "pages", title), page) for title, page in stream.pages.items())

    def patches_at(self) -> Iterator[tuple[Location, tuple[Patch, ...]]]:
        """The patches of each stream, with the place of their list in a scenario file."""
        yield ("traffic", "patch"), self.patch
        for name, stream in self.streams.items():
            yield ("traffic", "streams", name, "patch"), stream.patch

    @property
    def titles(self) -> tuple[str, ...]:
        """Titles of the named pages of all streams, or of all pages of the capture."""
        if self.from_ is not None:
            return self.from_.outline.titles
        return tuple(title for stream in self._by_name().values() for title in stream.pages)

    def remedy_for_page(self, title: str) -> str:
        """What to do about a page of that title, which the traffic does not have."""
        if self.from_ is not None:
            return f"look its title up in {self.from_.path.name}, where titles may be stand-ins"
        titles = [title.replace("_", " ") for title in self.titles]
        return near_miss(title, titles) if titles else f"write `pages: {{ {title}: {{}} }}` there"

    def each(self) -> Iterator[tuple[str | None, str, Stream]]:
        """Topic, generator and what that makes events of, for each stream; None is the first source topic."""
        for name, stream in self._by_name().items():
            own = {key: getattr(stream, key) for key in Paced.model_fields}
            if isinstance(stream, FurtherStream):
                # A seed of its own, or it would be about the same pages and users.
                seed = crc32(f"{self.seed}/{name}".encode())
                yield stream.topic, stream.generator, Stream.model_construct(**own, wikis=self.wikis, seed=seed)
            else:
                yield None, self.generator, self

    def _by_name(self) -> dict[str, "FurtherStream | TrafficSpec"]:
        return {"": self, **self.streams}
