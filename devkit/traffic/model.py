"""What a scenario says about its traffic, under `traffic:`.

    traffic: {generator: page_change, seed: 7, rate: 20/s, for: 10s, pages: {Huge: {edits: 1, event_bytes: 4160950}}}

`rate` times `for` is the number of events drawn by `mix` over a population of pages; the events of `pages` come on
top. The seed decides contents and order, never a count: two seeds give as many deletions and as many broken events.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from located_config.duration import PositiveDuration, format_duration
from located_config.rate import Rate, format_rate
from located_config.share import Share
from located_config.size import Size

MAX_EVENTS = 200_000
"""A Traffic is held in memory; an event of usual size takes 2 to 3 KB."""

_MOST_COUNTED = 1e12
"""A larger count is said without its digits; one beyond the largest float has none."""

MAX_EDITS_OF_A_PAGE = 4_000
"""Revision ids leave a page 4,095 revisions."""

_ILLEGAL_IN_TITLES = frozenset('#<>[]|{}"\\')

WikiId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
Domain = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Mix(_Model):
    """Shares of the drawn events; what they leave of 100% are plain edits.

    Shares are kept exactly, up to rounding to whole events.
    """

    create: Share = Field(default=0.08, description="Share of events that create a page.")
    move: Share = Field(default=0.03, description="Share of events that move a page to another title.")
    delete: Share = Field(default=0.03, description="Share of events that delete a page.")
    undelete: Share = Field(default=0.01, description="Share of events that restore a deleted page.")
    visibility_change: Share = Field(default=0.02, description="Share of events that hide or show a revision.")
    canary: Share = Field(
        default=0.02, description="Share of probe events of the domain `canary`, which the pipeline filters."
    )
    not_wikitext: Share = Field(
        default=0.05, description="Share of edits of pages with another content model than wikitext."
    )
    not_json: Share = Field(default=0.01, description="Share of messages that are no JSON.")
    not_schema: Share = Field(
        default=0.01, description="Share of messages that are JSON but do not fit the schema of the events."
    )

    @property
    def total(self) -> float:
        return sum(self.shares().values())

    def shares(self) -> dict[str, float]:
        """Share by name, in the order of declaration."""
        return {name: getattr(self, name) for name in type(self).model_fields}

    @model_validator(mode="after")
    def _at_most_all(self) -> Self:
        if self.total > 1 + 1e-9:
            raise ValueError(f"the shares add up to {self.total:.4g}, make that 1 or less; plain edits are the rest")
        return self


class NamedPage(_Model):
    """A page with a part to play: its events are edits, and the length of each is the same under every seed."""

    edits: int = Field(default=1, ge=1, le=MAX_EDITS_OF_A_PAGE, description="Number of edits of the page.")
    event_bytes: Annotated[Size, Field(gt=0)] | None = Field(
        default=None,
        description="Exact size of each of its events, reached by filling `revision.comment`. Default: what the "
        "event needs.",
    )
    error: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")] | None = Field(
        default=None,
        description="Error type in which its events must end. Default: they must leave as output.",
        examples=["revision_not_found"],
    )
    at: tuple[Share, ...] | None = Field(
        default=None,
        description="When each edit happens, as shares of the traffic's time, one for each edit. Default: spread "
        "evenly.",
        examples=[[0.2]],
    )

    @model_validator(mode="after")
    def _as_many_moments_as_edits(self) -> Self:
        if self.at is not None and len(self.at) != self.edits:
            raise ValueError(f"at names {len(self.at)} moments for {self.edits} edits, write one for each edit")
        return self

    def moments(self) -> tuple[float, ...]:
        """Fractions of the traffic's length, in order, one for each edit."""
        return tuple(sorted(self.at)) if self.at else tuple((n + 0.5) / self.edits for n in range(self.edits))


class TrafficSpec(_Model):
    """One stretch of source traffic; equal specs give equal bytes."""

    generator: Literal["page_change"] = Field(default="page_change", description="Kind of events; there is one.")
    seed: Annotated[int, Field(ge=0)] = Field(
        description="Seed of contents and order. The same seed gives the same bytes, and no seed changes a count.",
        examples=[7],
    )
    rate: Rate = Field(description="Rate of the drawn events; those of `pages` come on top.")
    for_: PositiveDuration = Field(alias="for", description="Time over which events are published.")
    wikis: Annotated[dict[WikiId, Domain], Field(min_length=1)] = Field(
        default={"enwiki": "en.wikipedia.org"},
        description="Host of each wiki by its database name; named pages live in the first.",
    )
    population: int = Field(
        default=100,
        ge=1,
        le=100_000,
        description="Number of pages that exist before the traffic begins, named ones not counted.",
    )
    mix: Mix = Field(
        default=Mix(), description="Kinds of the drawn events, as shares of 1; what they leave are plain edits."
    )
    pages: dict[str, NamedPage] = Field(
        default={}, description="Pages with a part to play, by title, in the main namespace."
    )

    @field_validator("wikis")
    @classmethod
    def _not_the_canary(cls, wikis: dict[str, str]) -> dict[str, str]:
        if "canary" in wikis.values():
            raise ValueError("the domain 'canary' marks probe events, give the wiki another one")
        return wikis

    @field_validator("pages")
    @classmethod
    def _titles(cls, pages: dict[str, NamedPage]) -> dict[str, NamedPage]:
        seen: dict[str, str] = {}
        for title in pages:
            if problem := _title_problem(title):
                raise ValueError(f"page title {title!r}: {problem}")
            twin = seen.setdefault(title.replace(" ", "_"), title)
            if twin != title:
                raise ValueError(f"page titles {twin!r} and {title!r} are one page: a space and '_' are the same")
        return pages

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
            raise ValueError(f"{self.event_count} events are more than {MAX_EVENTS}, lower rate, for or edits")
        return self

    @property
    def drawn_count(self) -> int:
        """Events drawn by `mix`."""
        # First what floating point lost, so that a half stays one: 15/s for 4.1 s has as many as 5/s for 12.3 s.
        return round(round(self.rate * self.for_.total_seconds(), 9))

    @property
    def event_count(self) -> int:
        """All events, those of named pages included."""
        return self.drawn_count + sum(page.edits for page in self.pages.values())


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
