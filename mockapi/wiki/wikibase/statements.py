"""Statements of an entity: properties, ranks, qualifiers, references, of which an edit changes a few.

(entity, index) ──> property and statement id, for ever
(entity, index, last edit that touched it) ──> rank, value, qualifiers, references
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mockapi.draws import digest
from mockapi.wiki.pages.elements import Bits
from mockapi.wiki.pages.outline import history
from mockapi.wiki.wikibase.drawn_value import Node, Value, datatype_of, draw_value
from mockapi.wiki.wikibase.vocabulary import TYPE, Triple

_PROPERTIES: Final = 400
_INSTANCE_OF: Final = 31
_REFERENCES: Final = 5_000
_OF_AN_ENTITY: Final = 8
_OF_ALL_ENTITIES: Final = 200
_OF_ALL_ONE_IN: Final = 4
"""As on a real wiki, some references stand in many entities; few stand twice in the same one."""
_RANKS: Final = ("DeprecatedRank", "NormalRank", "PreferredRank")


@dataclass(frozen=True, slots=True)
class Statement:
    """`subject` is what it is about: an entity, a form or a sense. `rank` counts from deprecated. `value` is None for a
    statement that there is some value, or, with `is_novalue`, none.
    """

    subject: str
    property_number: int
    node: str
    rank: int
    value: Value | None
    is_novalue: bool
    qualifiers: tuple[tuple[int, int], ...]
    references: tuple[int, ...]

    @property
    def property_id(self) -> str:
        """Such as `P31`."""
        return f"P{self.property_number}"

    @property
    def is_identifier(self) -> bool:
        """Whether its property has external identifiers."""
        return datatype_of(self.property_number) == "ExternalId"


def draw_statements(key: bytes, subject: str, count: int, edits: int) -> list[Statement]:
    """`count` statements about `subject`, and those that edits up to number `edits` added."""
    changes = history(key, edits, count)
    statements = []
    for index in range(count):
        statements.append(_draw(key, subject, index, 0, changes.touched.get(index, 0), count))
        added = changes.added.get(index)
        if added is not None:
            statements.append(_draw(key, subject, index, added, added, count))
    return statements


# An edit leaves most statements as they are, so the next revision has them from here.
@lru_cache(maxsize=1 << 15)
def _draw(key: bytes, subject: str, index: int, added: int, edit: int, count: int) -> Statement:
    lasting = digest(key.hex(), "statement", index, added, size=24).hex().upper()
    guid = "-".join((lasting[:8], lasting[8:12], lasting[12:16], lasting[16:20], lasting[20:32]))
    spread = int(lasting[32:], 16) / (1 << 64)
    # Squared, so that the first properties are used most.
    number = _INSTANCE_OF if index == 0 and not added else 1 + int(spread * spread * _PROPERTIES)
    bits = Bits(int.from_bytes(digest(key.hex(), "content", index, added, edit, size=40), "big"))
    rank = (0, 2, 1, 1, 1, 1, 1, 1, 1, 1)[bits.below(10)]
    special = bits.below(40)
    qualified = range((0, 0, 0, 0, 1, 2)[bits.below(6)])
    qualifiers = tuple((1 + bits.below(_PROPERTIES), bits.below(1 << 32)) for _ in qualified)
    first = int.from_bytes(key[:4], "big")
    cited = max(_OF_AN_ENTITY, count // _OF_AN_ENTITY)
    supported = range((0, 1, 1, 2)[bits.below(4)])
    references = tuple(
        bits.below(_OF_ALL_ENTITIES) if bits.below(_OF_ALL_ONE_IN) == 0 else (first + bits.below(cited)) % _REFERENCES
        for _ in supported
    )
    return Statement(
        subject=subject,
        property_number=number,
        node=f"wds:{subject}-{guid}",
        rank=rank,
        value=draw_value(number, bits.below(1 << 32)) if special > 1 else None,
        is_novalue=special == 1,
        qualifiers=qualifiers,
        references=tuple(dict.fromkeys(references)),
    )


class StatementTriples:
    """The RDF of statements; `shared` are the reference and value nodes that they lead to, each once."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.shared: dict[str, tuple[Triple, ...]] = {}

    def describe(self, statements: list[Statement]) -> Iterator[Triple]:
        """The triples, of the best statements of each property (the truthy ones) first."""
        best_ranks: dict[tuple[str, int], int] = defaultdict(int)
        for statement in statements:
            about = statement.subject, statement.property_number
            best_ranks[about] = max(best_ranks[about], statement.rank)
        best = {
            statement.node
            for statement in statements
            if statement.rank and statement.rank == best_ranks[statement.subject, statement.property_number]
        }
        for statement in statements:
            if statement.node in best:
                yield from self._truthy(statement)
        for statement in statements:
            yield from self._full(statement, is_best=statement.node in best)

    def _truthy(self, statement: Statement) -> Iterator[Triple]:
        subject, property_id, value = f"wd:{statement.subject}", statement.property_id, statement.value
        if value is not None:
            yield subject, f"wdt:{property_id}", value.term
            if value.normalized is not None and value.node is None:
                yield subject, f"wdtn:{property_id}", value.normalized
        elif statement.is_novalue:
            yield subject, TYPE, f"wdno:{property_id}"
        else:
            yield subject, f"wdt:{property_id}", _blank("direct", statement)

    def _full(self, statement: Statement, *, is_best: bool) -> Iterator[Triple]:
        node, property_id = statement.node, statement.property_id
        yield f"wd:{statement.subject}", f"p:{property_id}", node
        yield node, TYPE, "wikibase:Statement"
        if is_best:
            yield node, TYPE, "wikibase:BestRank"
        yield node, "wikibase:rank", f"wikibase:{_RANKS[statement.rank]}"
        if statement.value is not None:
            yield from self._snak(node, "ps", property_id, statement.value)
        elif statement.is_novalue:
            yield node, TYPE, f"wdno:{property_id}"
        else:
            yield node, f"ps:{property_id}", _blank("statement", statement)
        for number, drawn in statement.qualifiers:
            yield from self._snak(node, "pq", f"P{number}", draw_value(number, drawn))
        for number in statement.references:
            nodes = _reference(self._seed, number)
            yield node, "prov:wasDerivedFrom", nodes[0][0]
            self._share(nodes)

    def _snak(self, node: str, prefix: str, property_id: str, value: Value) -> Iterator[Triple]:
        yield from _snak(node, prefix, property_id, value)
        self._share(value.nodes)

    def _share(self, nodes: tuple[Node, ...]) -> None:
        for node, triples in nodes:
            self.shared.setdefault(node, triples)


def _snak(node: str, prefix: str, property_id: str, value: Value) -> Iterator[Triple]:
    yield node, f"{prefix}:{property_id}", value.term
    if value.node is not None:
        yield node, f"{prefix}v:{property_id}", value.node
    if value.normalized is not None:
        yield node, f"{prefix}n:{property_id}", value.normalized


def _blank(kind: str, statement: Statement) -> str:
    return f"_:{digest(kind, statement.node).hex()}"


_STATED_IN, _RETRIEVED, _URL = 248, 813, 854


@lru_cache(maxsize=1 << 13)
def _reference(seed: int, number: int) -> tuple[Node, ...]:
    """One of the references that all entities of a seed share, with its value nodes after it."""
    drawn = digest(seed, "reference", number, size=20)
    bits = Bits(int.from_bytes(drawn, "big"))
    node = f"wdref:{drawn.hex()}"
    properties = ((_STATED_IN,), (_STATED_IN, _RETRIEVED), (_URL, _RETRIEVED), (_STATED_IN, _URL))[bits.below(4)]
    triples: list[Triple] = [(node, TYPE, "wikibase:Reference")]
    values: list[Node] = []
    for property_number in properties:
        value = draw_value(property_number, bits.below(1 << 32))
        triples += _snak(node, "pr", f"P{property_number}", value)
        values += value.nodes
    return (node, tuple(triples)), *values
