"""Terms and prefixes of the RDF. A term is Turtle: `wd:Q42`, `<http://…>`, `_:b1`, `"text"@en`, `"1"^^xsd:integer`."""

from collections.abc import Iterable
from typing import Final

Triple = tuple[str, str, str]
"""Subject, predicate and object."""

TYPE: Final = "a"

_SHARED: Final = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "ontolex": "http://www.w3.org/ns/lemon/ontolex#",
    "dct": "http://purl.org/dc/terms/",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "wikibase": "http://wikiba.se/ontology#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "schema": "http://schema.org/",
    "cc": "http://creativecommons.org/ns#",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "prov": "http://www.w3.org/ns/prov#",
}
_OF_A_WIKI: Final = {
    "wd": "entity/",
    "wds": "entity/statement/",
    "wdref": "reference/",
    "wdv": "value/",
    "wdt": "prop/direct/",
    "wdtn": "prop/direct-normalized/",
    "p": "prop/",
    "ps": "prop/statement/",
    "psv": "prop/statement/value/",
    "psn": "prop/statement/value-normalized/",
    "pq": "prop/qualifier/",
    "pqv": "prop/qualifier/value/",
    "pqn": "prop/qualifier/value-normalized/",
    "pr": "prop/reference/",
    "prv": "prop/reference/value/",
    "prn": "prop/reference/value-normalized/",
    "wdno": "prop/novalue/",
}


def prefixes(domain: str) -> dict[str, str]:
    """IRIs by prefix, for the wiki at `domain`. Concepts are `http`, documents `https`, as Wikidata's are."""
    own = {name: f"http://{domain}/{path}" for name, path in _OF_A_WIKI.items()}
    return {**_SHARED, "data": f"https://{domain}/wiki/Special:EntityData/", **own}


_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


def text(value: str, language: str = "") -> str:
    """A literal, in a language if one is given."""
    literal = f'"{value.translate(_ESCAPES)}"'
    return f"{literal}@{language}" if language else literal


def typed(value: object, datatype: str) -> str:
    """A literal of an XML Schema datatype such as `integer`; the value needs no escaping."""
    return f'"{value}"^^xsd:{datatype}'


def write_turtle(triples: Iterable[Triple], domain: str) -> bytes:
    """Turtle as Wikibase writes it: triples of one subject in a row share it."""
    parts = [f"@prefix {name}: <{iri}> .\n" for name, iri in prefixes(domain).items()]
    before: tuple[str, str] | None = None
    for subject, predicate, value in triples:
        if before == (subject, predicate):
            parts.append(f",\n\t\t{value}")
        elif before is not None and before[0] == subject:
            parts.append(f" ;\n\t{predicate} {value}")
        else:
            parts.append(f"{' .' if before else ''}\n\n{subject} {predicate} {value}")
        before = subject, predicate
    parts.append(" .\n" if before else "")
    return "".join(parts).encode()


def write_ntriples(triples: Iterable[Triple], domain: str) -> bytes:
    """N-Triples, a line each."""
    full = _Expanded(prefixes(domain))
    return "".join(
        [f"{full[subject]} {full[predicate]} {full[value]} .\n" for subject, predicate, value in triples]
    ).encode()


class _Expanded(dict[str, str]):
    """The N-Triples form of terms, each made once."""

    def __init__(self, iris: dict[str, str]) -> None:
        super().__init__({TYPE: f"<{iris['rdf']}type>"})
        self._iris = iris

    def __missing__(self, term: str) -> str:
        self[term] = full = self._expand(term)
        return full

    def _expand(self, term: str) -> str:
        if term.startswith('"'):
            end = term.rindex('"') + 1
            return term[: end + 2] + self._expand(term[end + 2 :]) if term.startswith("^^", end) else term
        if term.startswith(("<", "_:")):
            return term
        prefix, _, local = term.partition(":")
        return f"<{self._iris[prefix]}{local}>"
