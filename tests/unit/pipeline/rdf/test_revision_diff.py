import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.rdf.revision_diff import TripleDiff, diff_revisions, is_shared, state_in_full
from pipeline.rdf.triples import Triple
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
