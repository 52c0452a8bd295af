"""One stretch of source events: how many, of which kinds, and for which pages.

`rate` times `for` is the number of events drawn by `mix` over a population of pages; the events of `pages`, canaries
and repeats come on top. The seed decides contents and order, never a count: two seeds give as many deletions and as
many broken events.
"""

from collections.abc import Iterator
from datetime import timedelta
from itertools import islice, pairwise
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from devkit.traffic.event_patch import ErrorType, Patch
from devkit.traffic.event_time import ProducerPause, Repeats, held_back
from devkit.traffic.mix import UNREPEATED, Mix, apportion
from devkit.traffic.shape import Canaries, TrafficPhase, counted_at, spans
from devkit.traffic.wikibase_dump import WikibaseDump
from devkit.traffic.wikibase_topics import WikibaseTopics
from located_config.count import counted
from located_config.duration import PositiveDuration, Shift, format_duration
from located_config.near import near_miss
from located_config.quantity import refused
from located_config.rate import Rate, format_rate
from located_config.share import Share
from located_config.size import Size

MAX_EVENTS = 200_000
"""A Traffic is held in memory; an event of usual size takes 2 to 3 KB."""

_MOST_COUNTED = 1e12
"""A larger count is said without its digits; one beyond the largest float has none."""

MAX_EDITS_OF_A_PAGE = 4_000
"""Revision ids leave a page 4,095 revisions."""

_LONGEST_SHIFT = timedelta(days=1)
"""What pages went through before the traffic was more than a day before it."""

_ILLEGAL_IN_TITLES = frozenset('#<>[]|{}"\\')

WikiId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
Domain = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")]


_PHASES: TypeAdapter[tuple[TrafficPhase, ...]] = TypeAdapter(tuple[TrafficPhase, ...])


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class NamedPage(_Model):
    """A page with a part to play: its events are edits, and the length of each is the same under every seed."""

    edits: int = Field(default=1, ge=1, le=MAX_EDITS_OF_A_PAGE, description="Number of edits of the page.")
    share: Annotated[Share, Field(gt=0)] | None = Field(
        default=None,
        description="Share of the drawn events that are edits of this page, in place of others. Then `edits` and `at` "
        "say nothing and stay out.",
        examples=["33%"],
    )
    event_bytes: Annotated[Size, Field(gt=0)] | None = Field(
        default=None,
        description="Exact size of each of its events, reached by filling `revision.comment`. Default: what the "
        "event needs.",
    )
    error: ErrorType | dict[str, ErrorType] | None = Field(
        default=None,
        description="Error type in which its events must end, in all arms or by arm or role. Default, and in an arm "
        "that is not named: they must leave as output.",
        examples=["revision_not_found", {"fixed": "revision_not_found"}],
    )
    at: tuple[Share, ...] | None = Field(
        default=None,
        description="When each edit happens, as shares of the traffic's time, one for each edit. Default: spread "
        "evenly.",
        examples=[[0.2]],
    )

    @model_validator(mode="after")
    def _either(self) -> Self:
        if self.share is not None and self.model_fields_set & {"edits", "at"}:
            raise ValueError("share says how many edits there are and when; leave edits and at out")
        return self

    @model_validator(mode="after")
    def _as_many_moments_as_edits(self) -> Self:
        if self.at is not None and len(self.at) != self.edits:
            raise ValueError(f"at names {len(self.at)} moments for {self.edits} edits, write one for each edit")
        return self

    def moments(self) -> tuple[float, ...]:
        """Fractions of the traffic's length, in order, one for each edit."""
        return tuple(sorted(self.at)) if self.at else tuple((n + 0.5) / self.edits for n in range(self.edits))


def _rate_or_phases(schema: dict[str, Any]) -> None:
    """Phases say what `rate` and `for` are."""
    schema["required"] = [name for name in schema["required"] if name not in ("rate", "for")]


class Paced(_Model):
    """What each stream says of its own: `rate` and `for`, or `phases`, of which those two are then made."""

    model_config = ConfigDict(json_schema_extra=_rate_or_phases)

    rate: Rate = Field(description="Rate of the drawn events; those of `pages` come on top.")
    for_: PositiveDuration = Field(alias="for", description="Time over which events are published.")
    phases: tuple[TrafficPhase, ...] = Field(
        default=(),
        description="Parts of the time with rates of their own, one after the other, in place of `rate` and `for`.",
        examples=[[{"for": "10s", "rate": "20/s"}, {"name": "burst", "for": "2s", "rate": "500/s"}]],
    )
    canaries: Canaries | None = Field(
        default=None,
        description="Probe events at fixed intervals or at the end, on top of the drawn ones.",
        examples=[{"every": "2s"}],
    )
    repeats: Repeats | None = Field(
        default=None,
        description="Events that come once more with the same `meta.id`, on top of the drawn ones. Of these, one that "
        "removes duplicates may drop all but one.",
        examples=[{"share": "5%", "after": "4s"}],
    )
    shift: Shift = Field(
        default=timedelta(0),
        description="How much newer the events are, or with a minus older, than those of other streams that are "
        "published at the same time; at most a day. It needs `event_times: {published: …}`.",
        examples=["-2m"],
    )
    pauses: tuple[ProducerPause, ...] = Field(
        default=(),
        description="Times in which the producer holds events back: they are published at its end, late. They need "
        "`event_times: {published: …}`.",
        examples=[[{"from": "3m", "for": "1m"}]],
    )
    patch: tuple[Patch, ...] = Field(
        default=(),
        description="Fields that are set, added or removed in the edits of named pages.",
        examples=[[{"page": "Huge", "set": {"performer.user_text": "A very long name"}}]],
    )
    population: int = Field(
        default=100,
        ge=1,
        le=100_000,
        description="Number of pages that exist before the traffic begins, named ones not counted.",
    )
    revisits: Share | None = Field(
        default=None,
        description="Share of the drawn edits that are of a page which has changed in this traffic before; the later "
        "and the oftener it has, the likelier. The others are of any page. Default: all are of any page.",
        examples=["70%"],
    )
    mix: Mix = Field(
        default=Mix(), description="Kinds of the drawn events, as shares of 1; what they leave are plain edits."
    )
    pages: dict[str, NamedPage] = Field(
        default={},
        description="Pages with a part to play, by title, in the main namespace; entities by the titles "
        "of their pages, such as `Q42` or `Property:P31`.",
    )

    @model_validator(mode="before")
    @classmethod
    def _paced_by_phases(cls, value: Any) -> Any:
        if not isinstance(value, dict) or not value.get("phases"):
            return value
        length = value.get("for", value.get("for_"))
        # A run that is stretched has both: those here were made of the phases.
        if not isinstance(length, timedelta) and (length is not None or "rate" in value):
            raise ValueError("phases say rate and for themselves: leave these two out")
        try:
            phases = _PHASES.validate_python(value["phases"])
        except ValidationError:
            phases = (TrafficPhase(for_=timedelta(seconds=1)),)  # which is told by itself
        length = sum((phase.for_ for phase in phases), timedelta(0))
        drawn = sum((phase.rate or 0.0) * phase.for_.total_seconds() for phase in phases)
        settings = {key: setting for key, setting in value.items() if key not in ("for_", "rate")}
        return {**settings, "for": length, "rate": f"{drawn / length.total_seconds()!r}/s" if drawn else "1/d"}

    @field_validator("pages")
    @classmethod
    def _titles(cls, pages: dict[str, NamedPage]) -> dict[str, NamedPage]:
        titles: dict[str, str] = {}
        for title in pages:
            if problem := _title_problem(title):
                raise ValueError(f"page title {title!r}: {problem}")
            twin = titles.setdefault(title.replace(" ", "_"), title)
            if twin != title:
                raise ValueError(f"page titles {twin!r} and {title!r} are one page: a space and '_' are the same")
        return pages

    @field_validator("shift")
    @classmethod
    def _not_before_the_pages(cls, shift: timedelta) -> timedelta:
        if abs(shift) > _LONGEST_SHIFT:
            raise refused("more than a day", f"write at most {format_duration(_LONGEST_SHIFT)}")
        return shift

    @model_validator(mode="after")
    def _pauses_in_order(self) -> Self:
        for earlier, later in pairwise(self.pauses):
            if later.from_ < earlier.to:
                raise ValueError("pauses: each begins where the one before it has ended; write them in order of time")
        if self.pauses and self.pauses[-1].from_ >= self.for_:
            raise ValueError("pauses: the last one begins when the stream is over")
        return self

    @model_validator(mode="after")
    def _a_sensible_count(self) -> Self:
        if self.rate * self.for_.total_seconds() > _MOST_COUNTED:
            raise ValueError(f"rate times for is more than {MAX_EVENTS} events, lower one of them")
        if self.event_count == 0:
            raise ValueError(
                f"rate {format_rate(self.rate)} for {format_duration(self.for_)} gives no event, "
                "raise one of them or name a page"
            )
        if self.event_count > MAX_EVENTS:
            if 2 * self._canary_count > self.event_count:
                raise ValueError(
                    f"canaries.every gives {self._canary_count} of {self.event_count} events, which are more than "
                    f"{MAX_EVENTS}; raise it"
                )
            raise ValueError(f"{self.event_count} events are more than {MAX_EVENTS}, lower rate, for or edits")
        return self

    @model_validator(mode="after")
    def _enough_to_repeat(self) -> Self:
        if self.repeats is None:
            return self
        counts = self.kind_counts()
        unfit = sum(counts[kind] for kind in UNREPEATED)
        # A move and the redirect that it leaves stay together, so neither takes the place of another event.
        most = max(0, self.drawn_count - 2 * (unfit + counts["move"]))
        repeats = self.repeats.count(self.drawn_count)
        if not repeats:
            raise ValueError(f"repeats: share is of {counted(self.drawn_count, 'event')}, which gives none")
        if repeats > most:
            raise ValueError(f"repeats: of {counted(self.drawn_count, 'event')} of this mix {most} can be repeated")
        return self

    @model_validator(mode="after")
    def _patches_of_edits(self) -> Self:
        edits = {title.replace("_", " "): self.edits_of(title) for title in self.pages}
        for patch in self.patch:
            title = patch.page.replace("_", " ")
            if title not in edits:
                raise ValueError(f"patch: there is no page {patch.page!r} in pages; {near_miss(title, edits)}")
            if patch.edit is not None and patch.edit > edits[title]:
                raise ValueError(f"patch: page {patch.page!r} has {counted(edits[title], 'edit')}, not {patch.edit}")
        return self

    @model_validator(mode="after")
    def _room_for_shares(self) -> Self:
        shared = {title: self.edits_of(title) for title, page in self.pages.items() if page.share is not None}
        if sum(shared.values()) > self.drawn_count:
            raise ValueError("the shares of the pages add up to more than all drawn events")
        for title, edits in shared.items():
            if edits > MAX_EDITS_OF_A_PAGE:
                raise ValueError(f"page {title!r} would have {edits} edits, more than {MAX_EDITS_OF_A_PAGE}")
        return self

    @property
    def drawn_count(self) -> int:
        """Events drawn by `mix`, and edits of pages with a share of them."""
        if self.phases:
            return sum(phase.count for phase in self.phases)
        return counted_at(self.rate, self.for_)

    def edits_of(self, title: str) -> int:
        """How many edits a named page has."""
        page = self.pages[title]
        return page.edits if page.share is None else round(page.share * self.drawn_count)

    @property
    def event_count(self) -> int:
        """All events, those of named pages and canaries included."""
        repeats = self.repeats.count(self.drawn_count) if self.repeats else 0
        edits = sum(page.edits for page in self.pages.values() if page.share is None)
        return self.drawn_count + self._canary_count + repeats + edits

    @property
    def _canary_count(self) -> int:
        """The canaries of `canaries`, in all topics."""
        return self.canaries.count(self.for_) * self._topic_count if self.canaries else 0

    @property
    def _topic_count(self) -> int:
        """Topics that each have the canaries of `canaries`."""
        return 1

    @property
    def last_event(self) -> timedelta:
        """When the last event but for closing canaries is published, at the pace at which events happen."""
        moments = [self.for_ * at for page in self.pages.values() if page.share is None for at in page.moments()]
        moments += [begin + length * (1 - 1 / count) for begin, length, count in self.paces() if count]
        moments += [*self.canaries.moments(self.for_)][-1:] if self.canaries else []
        if self.repeats is not None:
            last = self.repeats.indices(self.drawn_count)[-1]
            moments.append(next(islice(self.drawn_moments(), last, None)) + self.repeats.after)
        # Whatever happens earlier is published no later, so the pauses need be looked at for the last one alone.
        return held_back(max(moments, default=timedelta(0)), self.pauses)

    def kind_counts(self) -> dict[str, int]:
        """Number of drawn events of each kind of the mix, and of plain edits; edits of pages with a share count in
        neither.
        """
        shares = {"edit": max(0.0, 1 - self.mix.total), **self.mix.shares()}
        hot = sum(self.edits_of(title) for title, page in self.pages.items() if page.share)
        return apportion(self.drawn_count - hot, shares)

    def drawn_moments(self) -> Iterator[timedelta]:
        """When each drawn event happens: evenly over the time, or over that of each phase."""
        for begin, length, count in self.paces():
            yield from (begin + length * (n / count) for n in range(count))

    def paces(self) -> list[tuple[timedelta, timedelta, int]]:
        """Beginning, length and number of drawn events of each part in which these are evenly spaced."""
        if not self.phases:
            return [(timedelta(0), self.for_, self.drawn_count)]
        return [(begin, phase.for_, phase.count) for phase, begin in spans(self.phases)]


class Stream(Paced):
    """All that a generator makes events of; equal streams give equal bytes."""

    seed: Annotated[int, Field(ge=0)] = Field(
        description="Seed of contents and order. The same seed gives the same bytes, and no seed changes a count.",
        examples=[7],
    )
    wikis: Annotated[dict[WikiId, Domain], Field(min_length=1)] = Field(
        default={"enwiki": "en.wikipedia.org"},
        description="Host of each wiki by its database name; named pages live in the first.",
    )

    wikibase_topics: WikibaseTopics | None = Field(
        default=None,
        description="Topics of the events, for `generator: wikibase_source` alone. Default there: those of the data "
        "centre eqiad, without delays.",
        examples=[{"active": {"eqiad": "0s", "codfw": "5m"}, "delays": {"page-delete": "4s"}}],
    )
    dump: WikibaseDump | None = Field(
        default=None,
        description="A dump of all entities that is made while they are changed, for `generator: wikibase_source` "
        "alone. Each arm's triple store is loaded with it before the programs start. Default: the store is empty.",
        examples=[{"begins": "40s", "takes": "2m"}],
    )

    @property
    def last_event(self) -> timedelta:
        """When the last event but for closing canaries is published, at the pace at which events happen."""
        return super().last_event + (self.wikibase_topics.longest_delay if self.wikibase_topics else timedelta(0))

    @property
    def _topic_count(self) -> int:
        return len(self.wikibase_topics.names) if self.wikibase_topics else 1

    @field_validator("wikis")
    @classmethod
    def _not_the_canary(cls, wikis: dict[str, str]) -> dict[str, str]:
        if "canary" in wikis.values():
            raise ValueError("the domain 'canary' marks probe events, give the wiki another one")
        return wikis


def _title_problem(title: str) -> str | None:
    if not title.isascii() or not title.isprintable():
        return "only printable ASCII, so that its length in bytes is plain to see"
    if bad := sorted(_ILLEGAL_IN_TITLES & set(title)):
        return f"may not contain {' '.join(bad)}"
    if title != title.strip(" _") or not 1 <= len(title) <= 255:
        return "between 1 and 255 characters, none of them a space at either end"
    if title[0] != title[0].upper():
        return f"a wiki begins it with a capital, write {title[0].upper() + title[1:]!r}"
    return None
