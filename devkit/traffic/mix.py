"""The mix of a stream: which share of its drawn events is of which kind, and how many events that are."""

from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from located_config.share import Share

UNREPEATED = ("canary", "not_json", "not_schema")
"""Kinds of the mix that have no page change of which there could be a repeat."""

OF_ENTITIES = {"redirect": 0.01, "merge": 0.04}
"""Kinds of the mix whose shares have other defaults where the events are about entities."""


class Mix(BaseModel):
    """Shares of the drawn events; what they leave of 100% are plain edits.

    Shares are kept exactly, up to rounding to whole events.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

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
    redirect: Share | None = Field(
        default=None,
        description="Share of edits that make a page a redirect, or a redirect a page of its own again. Default: 0%. "
        "For `wikibase_change`: share of events after which an entity is a redirect. Default there: 1%, as far as the "
        "other shares leave room.",
    )
    merge: Share | None = Field(
        default=None,
        description="Share of events that merge an item into another, which takes two: one item gets the sitelinks, "
        "the other one becomes a redirect. Only for `wikibase_change`; default there: 4%, as far as the other shares "
        "leave room.",
    )

    @property
    def total(self) -> float:
        """As a fraction, at most 1; what is missing to 1 are plain edits."""
        return sum(self.shares().values())

    def shares(self) -> dict[str, float]:
        """Share by name, in the order of declaration."""
        return {name: getattr(self, name) or 0.0 for name in type(self).model_fields}

    def of_entities(self) -> Self:
        """With default shares of what only entities have, as far as there is room."""
        shares: dict[str, float] = {}
        for name, share in OF_ENTITIES.items():
            if getattr(self, name) is None:
                shares[name] = max(0.0, min(share, 1 - self.total - sum(shares.values())))
        return self.model_copy(update=shares)

    @model_validator(mode="after")
    def _at_most_all(self) -> Self:
        if self.total > 1 + 1e-9:
            raise ValueError(f"the shares add up to {self.total:.4g}, make that 1 or less; plain edits are the rest")
        return self


def apportion(total: int, shares: Mapping[str, float]) -> dict[str, int]:
    """Whole numbers that add up to `total`, each within 1 of its share (which add up to 1): largest remainders win."""
    exact = {name: total * share for name, share in shares.items()}
    counts = {name: int(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: counts[name] - exact[name])
    for n in range(total - sum(counts.values())):
        counts[by_remainder[n % len(by_remainder)]] += 1
    return counts
