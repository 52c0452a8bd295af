"""What a triple store holds, read by the kit itself past every proxy.

Terms are text in the canonical form of N-Triples, so what two servers hold can be compared as text.
https://www.w3.org/TR/sparql11-results-json/ https://www.w3.org/TR/rdf12-n-triples/#canonical-ntriples
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from devkit.errors import PartError
from devkit.stack.parts.part import TRIPLE_STORE
from devkit.stack.parts.triple_store import TripleStore

_EVERYWHERE: Final = "SELECT DISTINCT ?s ?p ?o { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
_STRING: Final = "http://www.w3.org/2001/XMLSchema#string"
_NO_IRI: Final = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_ESCAPED: Final = re.compile(r'[\x00-\x1f\x7f"\\]')
_SHORT: Final = {"\b": r"\b", "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r", '"': r"\"", "\\": r"\\"}


def read_triples(store: TripleStore, graph: str | None = None) -> tuple[str, ...]:
    """All triples as lines of N-Triples, sorted: those of one named graph, or those of all graphs together.

    Raises PartError.
    """
    if graph is not None and _NO_IRI.search(graph):
        raise PartError(f"{graph!r} is no IRI of a graph", TRIPLE_STORE)
    query = _EVERYWHERE if graph is None else f"SELECT ?s ?p ?o {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}"
    return tuple(sorted(f"{row['s']} {row['p']} {row['o']} ." for row in select(store, query)))


def select(store: TripleStore, query: str) -> tuple[Mapping[str, str], ...]:
    """The rows of a SELECT: terms by variable, without those that are not bound. Raises PartError."""
    try:
        bindings = store.select(query)["results"]["bindings"]
        return tuple({name: term_text(term) for name, term in row.items()} for row in bindings)
    except (KeyError, TypeError, ValueError) as error:
        raise PartError(f"{store.direct_query} answered no results of a SELECT: {error!r}", TRIPLE_STORE) from error


def term_text(term: Mapping[str, Any]) -> str:
    """A term of SPARQL's JSON results as N-Triples has it. Raises KeyError, ValueError for what is none of RDF 1.1."""
    value = str(term["value"])
    match term["type"]:
        case "uri":
            return f"<{_NO_IRI.sub(_as_number, value)}>"
        case "bnode":
            return f"_:{value}"
        case "literal" | "typed-literal":
            text = f'"{_ESCAPED.sub(_escape, value)}"'
            if language := term.get("xml:lang"):
                return f"{text}@{language}"
            datatype = term.get("datatype", _STRING)
            return text if datatype == _STRING else f"{text}^^<{datatype}>"
    raise ValueError(f"a term of type {term['type']!r}")


def _escape(character: re.Match[str]) -> str:
    return _SHORT.get(character[0]) or _as_number(character)


def _as_number(character: re.Match[str]) -> str:
    return f"\\u{ord(character[0]):04X}"
