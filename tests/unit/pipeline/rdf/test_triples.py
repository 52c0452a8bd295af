"""Triples as lines of N-Triples, and the namespaces that they are of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.rdf.concept_namespaces import ConceptNamespaces, is_in_namespace
from pipeline.rdf.triples import InvalidRdfError, cut_literal, join_terms, parse_triples, serialize_triples, split_terms

PREFIX = "<http://e.org/s> <http://e.org/p> "
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)


@pytest.mark.parametrize(
    ("turtle", "object_term"),
    [
        ("<http://e.org/o>", "<http://e.org/o>"),
        ('"""two\nlines"""', r'"two\nlines"'),
        (r'"\u00e9 \"quoted\""@EN-gb', r'"é \"quoted\""@en-gb'),
        ("5", '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ('"+5.0"^^<http://www.w3.org/2001/XMLSchema#decimal>', '"+5.0"^^<http://www.w3.org/2001/XMLSchema#decimal>'),
        ("_:b1", "_:b1"),
        ('"é"', '"é"'),
    ],
)
def test_a_triple_is_a_line_of_canonical_n_triples(turtle: str, object_term: str) -> None:
    assert parse_triples(f"{PREFIX}{turtle} .", source="test") == [f"{PREFIX}{object_term} ."]
    assert parse_triples(f"{PREFIX}{turtle} .".encode(), source="test") == [f"{PREFIX}{object_term} ."]


def test_an_empty_document_has_no_triples() -> None:
    assert parse_triples("", source="test") == []


@pytest.mark.parametrize(
    ("turtle", "line", "column"),
    [
        (f"{PREFIX}1 .\n{PREFIX}", 2, 35),
        ("<no-scheme> <http://e.org/p> 1 .", 1, 1),
        (f'{PREFIX}"'.encode() + b'\xff" .', 1, 36),
    ],
)
def test_what_is_no_turtle_is_refused_with_its_place(turtle: str | bytes, line: int, column: int) -> None:
    with pytest.raises(InvalidRdfError, match=f"^Q1 of rev 2: no Turtle at line {line}, column {column}: ") as refused:
        parse_triples(turtle, source="Q1 of rev 2")
    assert (refused.value.line, refused.value.column) == (line, column)


@given(texts=st.lists(TEXTS))
def test_triples_are_the_same_after_writing_and_reading(texts: list[str]) -> None:
    quoted = [text.replace("\\", r"\\").replace('"', r"\"") for text in texts]
    escaped = [text.replace("\n", r"\n").replace("\r", r"\r") for text in quoted]
    triples = parse_triples("".join(f'{PREFIX}"{text}"@en .\n' for text in escaped), source="test")
    assert len(triples) == len(texts)
    assert parse_triples(serialize_triples(triples), source="test") == triples
    assert [join_terms(*split_terms(triple)) for triple in triples] == triples


@pytest.mark.parametrize(
    ("object_term", "cut"),
    [
        ('"abcdef"', '"abc"'),
        ('"abcdef"@en', '"abc"@en'),
        ('"abcdef"^^<http://e.org/type>', '"abc"^^<http://e.org/type>'),
        (r'"a\"\ndef"', r'"a\"\n"'),
        (r'"\"\"\""', r'"\"\"\""'),
        ('"abc"@en', '"abc"@en'),
        ("<http://e.org/abcdef>", "<http://e.org/abcdef>"),
    ],
)
def test_a_literal_is_cut_by_its_value(object_term: str, cut: str) -> None:
    assert cut_literal(f"{PREFIX}{object_term} .", 3) == f"{PREFIX}{cut} ."


def test_namespaces_stand_below_the_base_and_skolem_iris_below_the_host() -> None:
    namespaces = ConceptNamespaces("http://e.org:8080/data/")
    assert namespaces.entity_node("Q1") == "<http://e.org:8080/data/entity/Q1>"
    assert namespaces.statement == "<http://e.org:8080/data/entity/statement/"
    assert namespaces.skolem == "<http://e.org:8080/.well-known/genid/"
    assert namespaces.data == (
        "<http://e.org:8080/data/wiki/Special:EntityData/",
        "<https://e.org:8080/data/wiki/Special:EntityData/",
    )


@pytest.mark.parametrize("base", ["", "www.wikidata.org", "http://"])
def test_a_base_without_scheme_and_host_is_refused(base: str) -> None:
    with pytest.raises(ValueError, match="is no IRI with scheme and host"):
        ConceptNamespaces(base)


@pytest.mark.parametrize(
    ("term", "is_in"),
    [
        ("<http://e.org/entity/Q1>", True),
        ("<http://e.org/entity/statement/Q1-1>", False),
        ("<http://e.org/value/1>", False),
        ('"http://e.org/entity/Q1"', False),
    ],
)
def test_a_namespace_has_what_is_directly_below_it(term: str, *, is_in: bool) -> None:
    assert is_in_namespace(term, "<http://e.org/entity/") is is_in
