"""What a store holds as lines of N-Triples, which a parser of RDF reads as what the store said."""

from typing import Any

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.errors import PartError
from devkit.observe.stored_triples import read_triples, select, term_text
from devkit.stack.parts.triple_store import TripleStore

XSD = "http://www.w3.org/2001/XMLSchema#"
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


class Store(TripleStore):
    """Answers every query with the same rows."""

    def __init__(self, *rows: dict[str, Any]) -> None:
        super().__init__("q", "u", "q", "u")
        self.rows, self.asked = rows, list[str]()

    def select(self, query: str) -> dict[str, Any]:
        self.asked.append(query)
        return {"head": {}, "results": {"bindings": list(self.rows)}}


def uri(value: str) -> dict[str, str]:
    return {"type": "uri", "value": value}


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (uri("http://a"), "<http://a>"),
        ({"type": "bnode", "value": "b0"}, "_:b0"),
        ({"type": "literal", "value": 'a "b"\n'}, r'"a \"b\"\n"'),
        ({"type": "literal", "value": "a", "xml:lang": "en"}, '"a"@en'),
        ({"type": "literal", "value": "a", "datatype": f"{XSD}string"}, '"a"'),
        ({"type": "typed-literal", "value": "1", "datatype": f"{XSD}integer"}, f'"1"^^<{XSD}integer>'),
    ],
)
def test_a_term(term: dict[str, str], text: str) -> None:
    assert term_text(term) == text


@given(TEXT)
def test_every_text_is_read_back(value: str) -> None:
    line = f"<http://s> <http://p> {term_text({'type': 'literal', 'value': value})} ."
    assert "\n" not in line
    (triple,) = pyoxigraph.parse(line, pyoxigraph.RdfFormat.N_TRIPLES)
    assert triple.object == pyoxigraph.Literal(value)


def test_triples_are_sorted_and_what_is_not_bound_is_left_out() -> None:
    rows = [{"s": uri(name), "p": uri("p"), "o": uri("o")} for name in ("b", "a")]
    assert read_triples(Store(*rows)) == ("<a> <p> <o> .", "<b> <p> <o> .")
    assert select(Store({"s": uri("a")}, {}), "SELECT ?s {}") == ({"s": "<a>"}, {})


def test_one_graph_is_read_where_it_is_named() -> None:
    store = Store()
    read_triples(store, "http://g")
    assert store.asked == ["SELECT ?s ?p ?o { GRAPH <http://g> { ?s ?p ?o } }"]
    with pytest.raises(PartError, match="is no IRI of a graph"):
        read_triples(store, "http://g> { } }")


@pytest.mark.parametrize("term", [{"type": "triple", "value": {}}, {"value": "a"}, {}])
def test_what_is_no_term_is_refused(term: dict[str, Any]) -> None:
    with pytest.raises(PartError, match="answered no results of a SELECT"):
        select(Store({"s": term}), "SELECT ?s {}")
