"""The source of an entity's page: JSON in Wikibase's form, with what differs from the drawn entity.

    {"type": "item", "id": "Q42", "labels": {"en": {"language": "en", "value": "Tea"}}, "sitelinks": {…}}
    {"entity": "Q42", "redirect": "Q64"}

Labels, descriptions, aliases and sitelinks that it gives replace the drawn ones of their language or site; an empty
value or title removes one. Statements are always drawn. A revision without a text is drawn as a whole.

`"merged": ["Q64"]`, which Wikibase does not have, gives an item the drawn sitelinks of others, of sites where it has
none: so a catalog can say what a merge comes to without knowing what is drawn.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from mockapi.wiki.catalog import CatalogPage, Located
from mockapi.wiki.wikibase.entity_id import ENTITY_ID, entity_id_of

_LANGUAGE: Final = re.compile(r"[a-z]{2,8}(-[A-Za-z0-9]{1,8})*")

Sitelinks = Mapping[str, tuple[str, tuple[str, ...]]]
"""Title and badges by site."""


@dataclass(frozen=True, slots=True)
class EntitySource:
    """`labels` and `descriptions` by language, `aliases` likewise, `sitelinks`, the ids of `merged` items, or the id to
    which the entity redirects.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    descriptions: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sitelinks: Sitelinks = field(default_factory=dict)
    merged: tuple[str, ...] = ()
    redirect: str | None = None

    @classmethod
    def parse(cls, source: str) -> Self:
        """Raises ValueError for what is no such JSON."""
        given = json.loads(source)
        try:
            if "redirect" in given:
                return cls(redirect=_checked_id(given["redirect"]))
            return cls(
                labels=_terms(given.get("labels", {})),
                descriptions=_terms(given.get("descriptions", {})),
                aliases={
                    _language(key): tuple(_text(alias["value"]) for alias in aliases)
                    for key, aliases in given.get("aliases", {}).items()
                },
                sitelinks={
                    site: (_text(link["title"]), tuple(_checked_id(badge) for badge in link.get("badges", ())))
                    for site, link in given.get("sitelinks", {}).items()
                },
                merged=tuple(map(_checked_id, given.get("merged", ()))),
            )
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"not the JSON of an entity: {error!r}") from None


def read_source(located: Located) -> EntitySource:
    """What a revision says of its entity. Raises ValueError for a text that is not that of an entity."""
    text = located.revision.text
    return EntitySource() if text is None else EntitySource.parse(text)


def draw_source(page: CatalogPage) -> str:
    """The source of a revision that is drawn as a whole."""
    return json.dumps({"type": page.content_model.removeprefix("wikibase-"), "id": entity_id_of(page)})


def redirect_source(entity: str, target: str) -> str:
    """The source of an entity that redirects to `target`."""
    return json.dumps({"entity": entity, "redirect": target})


def with_member(source: str, group: str, key: str, value: Mapping[str, Any]) -> str:
    """The source with `value` as the member `key` of a group such as `labels`."""
    given = json.loads(source)
    return json.dumps({**given, group: {**given.get(group, {}), key: value}}, ensure_ascii=False)


def _terms(given: Mapping[str, Any]) -> dict[str, str]:
    return {_language(key): _text(term["value"]) for key, term in given.items()}


def _language(value: str) -> str:
    if not _LANGUAGE.fullmatch(value):
        raise TypeError(f"{value!r} is no language")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _checked_id(value: object) -> str:
    if not ENTITY_ID.fullmatch(_text(value)):
        raise TypeError(f"{value!r} is no entity id")
    return str(value)
