"""Rules of the mock that act for a part of the traffic: `from: {share: 30%}`, `until: {share: 60%}`.

The kit switches such a rule on and off, as the mock does not know the traffic (`devkit.play.arm.rule_switches`). A
stretch does not change a share.
"""

import math
from collections.abc import Collection, Iterator
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from located_config.place import Location
from located_config.share import PositiveShare, format_share
from mockapi.rules.model import Rule, unique_names

WINDOW = ("from", "until")
"""The keys of a rule that the kit adds to those of the mock."""


class TrafficShare(BaseModel):
    """A moment of the traffic: so much of its events has been published."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    share: PositiveShare = Field(
        description="Share of all events of the traffic that the broker has acknowledged.", examples=["30%"]
    )

    def count(self, events: int) -> int:
        """The number of published events at this moment, of `events` in all."""
        # Without the error of floating point.
        return math.ceil(round(self.share * events, 6))


class ScenarioRule(Rule):
    """A rule of the mock, which may act for a part of the traffic only."""

    from_: TrafficShare | None = Field(
        default=None,
        alias="from",
        description="The kit switches the rule on when this share of the events is published. Default: it is on from "
        "the start.",
        examples=[{"share": "30%"}],
    )
    until: TrafficShare | None = Field(
        default=None,
        description="The kit switches the rule off when this share of the events is published. Default: it stays on.",
        examples=[{"share": "60%"}],
    )

    @model_validator(mode="after")
    def _check_window(self) -> Self:
        if not self.has_window:
            return self
        other_keys = {"when.window": self.when.window, "ttl": self.ttl, "enabled": None if self.enabled else False}
        for key, value in other_keys.items():
            if value is not None:
                raise ValueError(f"{key} says when the rule acts, and so do from and until; keep one of them")
        if self.from_ is not None and self.until is not None and self.until.share <= self.from_.share:
            raise ValueError(
                f"until ({format_share(self.until.share)}) has to be a larger share than "
                f"from ({format_share(self.from_.share)})"
            )
        return self

    @property
    def has_window(self) -> bool:
        """Whether the kit switches it."""
        return self.from_ is not None or self.until is not None

    def at_the_start(self) -> Rule:
        """As the mock gets it before anything is published."""
        return self.model_copy(update={"enabled": False}) if self.from_ is not None else self


ScenarioRules = Annotated[tuple[ScenarioRule, ...], AfterValidator(unique_names)]
"""The rules of a scenario, in the order in which they apply."""


def impossible_windows(
    rules: Iterator[tuple[Location, ScenarioRule]], events: int, phases: Collection[str]
) -> Iterator[tuple[Location, str]]:
    """Windows without a published event, or with the name of one of the traffic's `phases`, with their places."""
    for place, rule in rules:
        if rule.has_window and rule.name in phases:
            yield (*place, "name"), f"a part of the traffic is called {rule.name!r} as well"
        begin = rule.from_.count(events) if rule.from_ is not None else 0
        end = rule.until.count(events) if rule.until is not None else events
        if rule.has_window and end <= begin:
            key = "until" if rule.until is not None else "from"
            yield (*place, key), f"of {events} events none is published between from and until"
