"""Triples as lines of N-Triples, what differs between two revisions, and its chunks."""

import orjson
import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.events import InvalidTerm
from pipeline.rdf.chunks import join_chunks, json_bytes, split_diff
from pipeline.rdf.concept_namespaces import ConceptNamespaces, is_in_namespace
from pipeline.rdf.revision_diff import TripleDiff, diff_revisions, is_shared, state_in_full
from pipeline.rdf.terms import encode_iri
from pipeline.rdf.triples import (
    InvalidRdfError,
    Triple,
    cut_literal,
    join_terms,
    parse_triples,
    serialize_triples,
    split_terms,
)
from pipeline.rdf.vocabulary import RDF_TYPE
from tests.unit.pipeline.rdf.turtle_texts import NAMESPACES, triples_of

UNIVERSE = triples_of(
    """wd:Q1 wdt:P1 "a", "b", "c" ; p:P1 wds:Q1-a, wds:Q1-b .
       wds:Q1-a prov:wasDerivedFrom wdref:1 ; psv:P1 wdv:1 .
       wds:Q1-b prov:wasDerivedFrom wdref:2 ; psv:P1 wdv:2 .
       wdref:1 pr:P2 "a" . wdref:2 pr:P2 "b" . wdv:1 wikibase:timeValue "1" . wdv:2 wikibase:timeValue "2" .
       <https://en.e.org/> wikibase:wikiGroup "wikipedia" .
       <https://en.e.org/wiki/A> schema:about wd:Q1 ; a schema:Article ."""
)
REVISIONS = st.frozensets(st.sampled_from(UNIVERSE))
TRIPLES = st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1, max_size=30)
PARTS = st.lists(TRIPLES, max_size=8, unique=True).map(tuple)
DIFFS = st.builds(TripleDiff, PARTS, PARTS, PARTS, PARTS)
PREFIX = "<http://e.org/s> <http://e.org/p> "
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)


def apply_diff(diff: TripleDiff, before: frozenset[Triple]) -> frozenset[Triple]:
    """The triples after the diff; shared ones that are not linked any more stay."""
    return frozenset((before - set(diff.deleted)) | set(diff.added) | set(diff.linked_shared))


def owned(triples: frozenset[Triple]) -> set[Triple]:
    return {triple for triple in triples if not is_shared(triple, NAMESPACES)}


@pytest.mark.parametrize(
    ("turtle", "shared"),
    [
        ('wdref:1 pr:P1 "a" .', True),
        ("wdv:1 a wikibase:TimeValue .", True),
        ('<https://en.e.org/> wikibase:wikiGroup "wikipedia" .', True),
        ("wds:Q1-a prov:wasDerivedFrom wdref:1 .", False),
        ("wd:Q1 wdt:P1 wdv:1 .", False),
        ("<https://en.e.org/wiki/A> a schema:Article .", False),
        ("<http://wiki.example/value/1/2> a wikibase:TimeValue .", False),
    ],
)
def test_the_subject_says_whether_a_triple_is_shared(turtle: str, *, shared: bool) -> None:
    (triple,) = triples_of(turtle)
    assert is_shared(triple, NAMESPACES) is shared


def test_a_diff_has_four_sorted_parts() -> None:
    before = triples_of('wd:Q1 wdt:P1 "a", "b" . wdv:1 wikibase:timeValue "1" .')
    after = triples_of('wd:Q1 wdt:P1 "a", "d", "c" . wdv:2 wikibase:timeValue "2" .')
    diff = diff_revisions(frozenset(before), frozenset(after), NAMESPACES)
    assert diff == TripleDiff(
        added=tuple(triples_of('wd:Q1 wdt:P1 "c", "d" .')),
        deleted=tuple(triples_of('wd:Q1 wdt:P1 "b" .')),
        linked_shared=tuple(triples_of('wdv:2 wikibase:timeValue "2" .')),
        unlinked_shared=tuple(triples_of('wdv:1 wikibase:timeValue "1" .')),
    )
    assert len(diff) == 5


@given(before=REVISIONS, after=REVISIONS)
def test_a_diff_makes_the_second_revision_of_the_first(before: frozenset[Triple], after: frozenset[Triple]) -> None:
    diff = diff_revisions(before, after, NAMESPACES)
    applied = apply_diff(diff, before)
    assert owned(applied) == owned(after)
    assert applied == after | set(diff.unlinked_shared)
    assert apply_diff(diff, applied) == applied


@given(revision=REVISIONS)
def test_a_revision_and_itself_differ_in_nothing(revision: frozenset[Triple]) -> None:
    assert diff_revisions(revision, revision, NAMESPACES) == TripleDiff()


@given(revision=REVISIONS)
def test_an_import_adds_and_links_all(revision: frozenset[Triple]) -> None:
    diff = diff_revisions(frozenset(), revision, NAMESPACES)
    assert (set(diff.added), set(diff.linked_shared)) == (owned(revision), revision - owned(revision))
    assert not diff.deleted
    assert not diff.unlinked_shared


def test_a_reconcile_states_all_triples_as_added() -> None:
    assert state_in_full(UNIVERSE) == TripleDiff(added=tuple(sorted(UNIVERSE)))


def all_triples(chunk: TripleDiff) -> tuple[Triple, ...]:
    return chunk.added + chunk.deleted + chunk.linked_shared + chunk.unlinked_shared


SMALL = TripleDiff(("a",), ("b",), ("c",), ("d",))


@pytest.mark.parametrize(
    ("diff", "limits", "chunks"),
    [
        pytest.param(SMALL, {}, [SMALL], id="a small one is one chunk"),
        pytest.param(TripleDiff(), {}, [TripleDiff()], id="so is an empty one"),
        pytest.param(
            TripleDiff(("aa", "bb", "cc"), ("dd",)),
            {"characters": 6},
            [TripleDiff(("aa", "bb")), TripleDiff(("cc",), ("dd",))],
            id="triples up to the limit with their line ends",
        ),
        pytest.param(
            TripleDiff(("a", "b" * 10, "c")),
            {"characters": 6},
            [TripleDiff(("a",)), TripleDiff(("b" * 10,)), TripleDiff(("c",))],
            id="a longer triple is a chunk by itself",
        ),
    ],
)
def test_the_chunks_of_a_diff(diff: TripleDiff, limits: dict[str, int], chunks: list[TripleDiff]) -> None:
    assert split_diff(diff, **limits) == chunks


def test_the_payload_is_measured_as_json() -> None:
    diff = TripleDiff(('"', "é", "a"))
    bytes_of_two = json_bytes('"') + json_bytes("é")
    assert bytes_of_two == len(r"\"\n") + len("é".encode() + rb"\n")
    assert split_diff(diff, payload_bytes=bytes_of_two) == [TripleDiff(('"', "é")), TripleDiff(("a",))]


@given(diff=DIFFS, characters=st.integers(1, 60), payload_bytes=st.none() | st.integers(1, 90))
def test_chunks_keep_the_limits_and_make_the_diff(diff: TripleDiff, characters: int, payload_bytes: int | None) -> None:
    chunks = split_diff(diff, characters=characters, payload_bytes=payload_bytes)
    assert join_chunks(chunks) == diff
    for chunk in chunks:
        text = serialize_triples(all_triples(chunk))
        is_single = len(chunk) == 1
        assert is_single or len(text) <= characters
        assert is_single or payload_bytes is None or len(orjson.dumps(text)) - 2 <= payload_bytes
        assert len(chunk) > 0 or len(chunks) == 1


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
        (f"{PREFIX}<http://e.org/[> .\n{PREFIX}", 2, 35),
        (f'{PREFIX}"Wien"@de_AT .', 1, 44),
        (f'{PREFIX}"'.encode() + b'\xff" .', 1, 36),
    ],
)
def test_what_is_no_turtle_is_refused_with_its_place(turtle: str | bytes, line: int, column: int) -> None:
    with pytest.raises(InvalidRdfError, match=f"^Q1 of rev 2: no Turtle at line {line}, column {column}: ") as refused:
        parse_triples(turtle, source="Q1 of rev 2")
    assert (refused.value.line, refused.value.column) == (line, column)


@pytest.mark.parametrize(
    ("term", "valid"),
    [
        ("<http://e.org/a[1]?b[]=2#c[3]>", "<http://e.org/a%5B1%5D?b%5B%5D=2#c%5B3%5D>"),
        ("<http://e.org/page#crew?oldid=1#officers>", "<http://e.org/page#crew?oldid=1%23officers>"),
        ("<http://e.org/100%>", "<http://e.org/100%25>"),
        ("<http://e.org/%e4/%zz%4>", "<http://e.org/%e4/%25zz%254>"),
        ('<http://e.org/`a b`{c|d}^">', "<http://e.org/%60a%20b%60%7Bc%7Cd%7D%5E%22>"),
        (r"<http://e.org/\u003E\u005C\u000A\uFFFF\u0085>", "<http://e.org/%3E%5C%0A%EF%BF%BF%C2%85>"),
        ("<http://пример/Ä[漢]😀>", "<http://пример/Ä%5B漢%5D😀>"),
        ("<mailto:a@[b]>", "<mailto:a@%5Bb%5D>"),
        (r'"a\"\n"^^<http://e.org/t[]>', r'"a\"\n"^^<http://e.org/t%5B%5D>'),
        ("<<( <http://e.org/[> <http://e.org/p> _:b )>>", "<<( <http://e.org/%5B> <http://e.org/p> _:b )>>"),
        ("<http://host:name/x>", None),
        ("<http://[::1/x>", None),
        ("<no-scheme>", None),
        ('"ship"@mis-x-q113819406', None),
        ('"ship"@zh-classical', None),
        ('"ship"^^<t>', None),
        (f'"ship"^^<{RDF_TYPE[1:-5]}langString>', None),
        ("<<( <http://[> <http://e.org/p> 1 )>>", None),
    ],
)
def test_a_term_that_no_store_takes_is_encoded_or_costs_its_triple(term: str, valid: str | None) -> None:
    """The triples beside it, those of an entity, stay as they are."""
    beside = parse_triples(f'{PREFIX}"a"@de-AT , 5 .', source="test")
    invalid_terms: list[InvalidTerm] = []
    text = f'{PREFIX}"a"@de-AT , 5 , {term} . <[> <http://e.org/p> 1 .'
    triples = parse_triples(text, source="test", invalid_terms=invalid_terms)
    assert triples == [*beside, *([] if valid is None else [f"{PREFIX}{valid} ."])]
    assert [term.property for term in invalid_terms] == ["http://e.org/p"] * 2
    assert [term.outcome for term in invalid_terms] == ["left_out" if valid is None else "encoded", "left_out"]
    assert invalid_terms[1].term == "<[>"
    assert parse_triples(serialize_triples(triples), source="test", invalid_terms=invalid_terms) == triples
    assert len(invalid_terms) == 2


@given(text=st.text(st.characters(codec="utf-8", exclude_characters=">\\"), max_size=30) | st.text("%#[]/:@aF0"))
def test_what_is_read_of_any_iri_is_what_stores_take(text: str) -> None:
    """A valid one stays as it is, and what an encoded one comes to is valid."""
    strict = pyoxigraph.parse(f"{PREFIX}<http://e.org/{text}> .", pyoxigraph.RdfFormat.N_TRIPLES)
    try:
        expected = f"{PREFIX}<{next(strict).object.value}> ."
    except SyntaxError:
        expected = f"{PREFIX}<{encode_iri(f'http://e.org/{text}')}> ."
    assert parse_triples(f"{PREFIX}<http://e.org/{text}> .", source="test") == [expected]
    pyoxigraph.Store().update(f"INSERT DATA {{ {expected} }}")


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
