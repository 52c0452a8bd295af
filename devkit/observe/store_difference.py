"""How the entities in a triple store differ from the truth."""

from dataclasses import dataclass

from devkit.observe.wikibase.entity_triples import Triple


@dataclass(frozen=True)
class EntityTruth:
    """The triples that a store must have of an entity; none of one that is deleted."""

    entity: str
    triples: frozenset[Triple]


@dataclass(frozen=True)
class EntityDifference:
    """Numbers of triples of one entity: `missing` ones are not in the store, `unexpected` ones should not be.

    A node that belongs to no entity stands for itself, under its IRI.
    """

    entity: str
    missing: int
    unexpected: int

    def __str__(self) -> str:
        parts = (f"{self.missing} missing", self.missing), (f"{self.unexpected} unexpected", self.unexpected)
        return f"{self.entity} ({', '.join(text for text, count in parts if count)})"


@dataclass(frozen=True)
class StoreDifference:
    """Of all `entities` that the traffic touched, or that the store was loaded with. `orphans` is the number of shared
    triples, of references, values, sitelinks and definitions, that no entity links any more; they stay and are no
    difference.
    """

    entities: int
    differing: tuple[EntityDifference, ...]
    orphans: int
