"""Values of statements, qualifiers and references: a simple term, and for some a value node with all details.

Drawn from a number alone, so equal values share their node wherever they stand.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from mockapi.draws import digest
from mockapi.wiki.pages.elements import Bits
from mockapi.wiki.pages.prose import LANGUAGES, prose
from mockapi.wiki.wikibase.vocabulary import TYPE, Triple, text, typed

DATATYPES: Final = (
    "WikibaseItem", "String", "ExternalId", "Time", "WikibaseItem", "Quantity", "Url", "ExternalId",
    "WikibaseItem", "GlobeCoordinate", "String", "Monolingualtext", "ExternalId", "Time", "CommonsMedia",
    "WikibaseItem",
)  # fmt: skip
"""The type of property Pn is that at n modulo 16; so P31 and P248 have items, P813 a time, P854 a URL."""

_ITEMS: Final = 100_000
_CONCEPTS: Final = "<http://www.wikidata.org/entity/{}>"
_GREGORIAN: Final = _CONCEPTS.format("Q1985727")
_EARTH: Final = _CONCEPTS.format("Q2")
_METRE: Final = _CONCEPTS.format("Q11573")
_UNITS: Final = ((_CONCEPTS.format("Q199"), 1), (_METRE, 1), (_CONCEPTS.format("Q828224"), 1000))
_WITH_FORMATTER: Final = (2, 7)


Node = tuple[str, tuple[Triple, ...]]
"""A shared node with its triples."""


@dataclass(frozen=True, slots=True)
class Value:
    """`node` is its value node, `normalized` what `…n:` predicates lead to, `nodes` are all value nodes."""

    term: str
    node: str | None = None
    normalized: str | None = None
    nodes: tuple[Node, ...] = ()


def datatype_of(property_number: int) -> str:
    """The type of a property's values, as the ontology names it."""
    return DATATYPES[property_number % len(DATATYPES)]


def has_formatter(property_number: int) -> bool:
    """Whether identifiers of the property have an IRI, their normalized value."""
    return property_number % len(DATATYPES) in _WITH_FORMATTER


@lru_cache(maxsize=1 << 15)
def draw_value(property_number: int, number: int) -> Value:
    """The value of a property that `number`, of 32 bits, stands for."""
    return _DRAWN[datatype_of(property_number)](property_number, Bits(number))


def _item(_: int, bits: Bits) -> Value:
    return Value(f"wd:Q{1 + bits.below(_ITEMS)}")


def _string(_: int, bits: Bits) -> Value:
    return Value(text(bits.of(prose("en").topics)))


def _external_id(property_number: int, bits: Bits) -> Value:
    written = f"{bits.below(1 << 24):07d}"
    iri = f"<https://id.example.org/P{property_number}/{written}>" if has_formatter(property_number) else None
    return Value(text(written), normalized=iri)


def _url(_: int, bits: Bits) -> Value:
    return Value(f"<https://example.org/{bits.below(1 << 20)}?lang={bits.of(LANGUAGES)}>")


def _monolingual_text(_: int, bits: Bits) -> Value:
    language = bits.of(LANGUAGES)
    return Value(text(bits.of(prose(language).plain), language))


def _commons_media(_: int, bits: Bits) -> Value:
    name = quote(f"{bits.of(prose('en').topics)} {bits.below(1000)}.jpg", safe="")
    return Value(f"<http://commons.wikimedia.org/wiki/Special:FilePath/{name}>")


def _time(_: int, bits: Bits) -> Value:
    precision = 9 + bits.below(3)
    year = 1200 + bits.below(826)
    sign = "-" if bits.below(50) == 0 else ""
    month = 1 + bits.below(12) if precision > 9 else 1
    day = 1 + bits.below(28) if precision > 10 else 1
    moment = typed(f"{sign}{year}-{month:02d}-{day:02d}T00:00:00Z", "dateTime")
    return _with_node(
        moment,
        "TimeValue",
        ("timeValue", moment),
        ("timePrecision", typed(precision, "integer")),
        ("timeTimezone", typed(0, "integer")),
        ("timeCalendarModel", _GREGORIAN),
    )


def _coordinates(_: int, bits: Bits) -> Value:
    latitude, longitude = bits.below(180_0000) / 10_000 - 90, bits.below(360_0000) / 10_000 - 180
    return _with_node(
        f'"Point({longitude:.4f} {latitude:.4f})"^^geo:wktLiteral',
        "GlobecoordinateValue",
        ("geoLatitude", typed(f"{latitude:.4f}", "double")),
        ("geoLongitude", typed(f"{longitude:.4f}", "double")),
        ("geoPrecision", typed("0.0001", "double")),
        ("geoGlobe", _EARTH),
    )


def _quantity(_: int, bits: Bits) -> Value:
    unit, factor = _UNITS[bits.below(len(_UNITS))]
    amount, is_bounded = bits.below(10_000), bits.below(2) == 0
    metres = None if factor == 1 else _quantity_in(_METRE, amount * factor, factor if is_bounded else None)
    return _quantity_in(unit, amount, 1 if is_bounded else None, metres)


def _quantity_in(unit: str, amount: int, bound: int | None, normal: Value | None = None) -> Value:
    """`normal` is the same in a standard unit; None when this is it, which is its own normalization."""
    written = typed(f"{amount:+d}", "decimal")
    members = [("quantityAmount", written)]
    if bound is not None:
        members.append(("quantityUpperBound", typed(f"{amount + bound:+d}", "decimal")))
        members.append(("quantityLowerBound", typed(f"{amount - bound:+d}", "decimal")))
    value = _with_node(written, "QuantityValue", *members, ("quantityUnit", unit))
    ((node, triples),) = value.nodes
    standard, more = (node, ()) if normal is None else (normal.nodes[0][0], normal.nodes)
    normalization = (node, "wikibase:quantityNormalized", standard)
    return Value(written, node, standard, ((node, (*triples, normalization)), *more))


def _with_node(term: str, kind: str, *members: tuple[str, str]) -> Value:
    node = f"wdv:{digest(kind, members).hex()}"
    own = tuple((node, f"wikibase:{name}", value) for name, value in members)
    return Value(term, node, None, ((node, ((node, TYPE, f"wikibase:{kind}"), *own)),))


_DRAWN: Final[dict[str, Callable[[int, Bits], Value]]] = {
    "WikibaseItem": _item,
    "String": _string,
    "ExternalId": _external_id,
    "Url": _url,
    "Monolingualtext": _monolingual_text,
    "CommonsMedia": _commons_media,
    "Time": _time,
    "GlobeCoordinate": _coordinates,
    "Quantity": _quantity,
}
