"""An entity of a Wikibase while traffic is made: its page, and what the operations so far come to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from devkit.traffic.json_bytes import json_bytes
from devkit.traffic.life import PageLife, Place

_PLACES = {"Q": (0, ""), "P": (120, "Property:"), "L": (146, "Lexeme:")}
"""Namespace and its name by the first letter of the entity."""
_MODELS = {"Q": "wikibase-item", "P": "wikibase-property", "L": "wikibase-lexeme"}
CONTENT_MODELS = frozenset(_MODELS.values())
"""Those of pages that are entities."""


@dataclass(eq=False)
class EntityLife:
    """`id` is such as `Q42`. `in_store` is the revision that the operations so far come to, None where they come to no
    entity. `merged` are the items whose sitelinks it got. `changes` are what it was after each of its changes, by their
    moments: a revision, or None where it was deleted. Before them it is there, unless it was deleted.
    """

    id: str
    page: PageLife
    sequence: int = 0
    in_store: int | None = None
    is_deleted: bool = False
    is_redirect: bool = False
    merged: tuple[str, ...] = ()
    is_there_before: bool = True
    changes: list[tuple[timedelta, int | None]] = field(default_factory=list)

    def change(self, at: timedelta, revision: int | None) -> None:
        """Its revision from that moment on, None without one; moments come in order."""
        self.changes.append((at, revision))
        self.in_store = revision

    def revision_at(self, moment: timedelta) -> int | None:
        """The revision that it had then, None where it was deleted, or not created yet."""
        before = self.page.revisions[0].rev_id if self.is_there_before else None
        return next((revision for at, revision in reversed(self.changes) if at <= moment), before)

    def redirect_to(self, target: "EntityLife") -> None:
        """From its next revision on."""
        self.is_redirect = True
        self.page.text = _text({"entity": self.id, "redirect": target.id})

    def merge(self, other: "EntityLife") -> None:
        """From its next revision on it has the sitelinks of the other item, of sites where it has none."""
        self.merged += (other.id, *other.merged)
        self.page.text = _text({"type": "item", "id": self.id, "merged": list(self.merged)})


def entity_id(title: str) -> str:
    """The entity of a page: `P31` of `Property:P31`."""
    return title.rpartition(":")[2]


def entity_title(entity: str) -> str:
    """The title of an entity's page; what is no entity's id stays as it is."""
    return _PLACES.get(entity[:1], (0, ""))[1] + entity


def entity_page(wiki: str, domain: str, page_id: int, entity: str) -> PageLife:
    """The page of an entity, without a revision."""
    place = Place(_PLACES[entity[0]][0], entity_title(entity))
    return PageLife(wiki, domain, page_id, place, _MODELS[entity[0]], "application/json")


def _text(source: Mapping[str, object]) -> str:
    return json_bytes(source).decode()
