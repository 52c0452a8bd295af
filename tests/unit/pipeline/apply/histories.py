"""Histories of two entities for property tests, and what may stay of them in a store."""

from collections import Counter
from dataclasses import dataclass, field

import pyoxigraph
from hypothesis import strategies as st

from pipeline.apply.reassemble import Mutation
from pipeline.rdf.operation import Op
from pipeline.rdf.revision_diff import diff_revisions, is_shared, state_in_full
from pipeline.rdf.triples import Triple, split_terms
from pipeline.rdf.vocabulary import SCHEMA_ABOUT
from tests.unit.pipeline.apply.mutations import delete, mutation_of, triples_in
from tests.unit.pipeline.rdf.turtle_texts import NAMESPACES, triples_of

PIECES = (
    "wd:{0} wdt:P1 'a' .",
    "wd:{0} wdt:P1 'b' .",
    "wd:{0} p:P1 wds:{0}-a . wds:{0}-a ps:P1 'a' .",
    "wd:{0} p:P1 wds:{0}-b . wds:{0}-b prov:wasDerivedFrom wdref:1 . wdref:1 pr:P1 'a' .",
    "wd:{0} p:P1 wds:{0}-c . wds:{0}-c psv:P1 wdv:1 . wdv:1 wikibase:timeValue 'a' .",
    # Two of one statement: a diff may change it and leave its link as it is.
    "wd:{0} p:P1 wds:{0}-d . wds:{0}-d ps:P1 'a' .",
    "wd:{0} p:P1 wds:{0}-d . wds:{0}-d ps:P1 'a' ; pq:P2 'b' .",
    "<https://en.e.org/wiki/A> a schema:Article ; schema:name 'A' ; schema:about wd:{0} .",
)
REVISIONS = st.frozensets(st.sampled_from(PIECES))
# Of a run of diffs most can go wrong.
OPS: list[Op] = ["diff", "diff", "diff", "delete", "reconcile"]


@dataclass
class History:
    """Mutations of two entities, whose revisions are their numbers, and the last revision of each."""

    mutations: list[Mutation] = field(default_factory=list)
    revisions: dict[str, frozenset[Triple]] = field(default_factory=dict)


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Each entity begins without triples, and so does it after a delete: what comes next is an import."""
    history, revs = History(), Counter[str]()
    steps = st.lists(st.tuples(st.sampled_from(["Q1", "Q2"]), st.sampled_from(OPS), REVISIONS), max_size=8)
    for next_offset, (entity, op, pieces) in enumerate(draw(steps), start=1):
        before = history.revisions.get(entity, frozenset())
        revs[entity] += 1
        rev, version = revs[entity], f"wd:{entity} schema:version {revs[entity]} ."
        after = frozenset(triples_of(" ".join([version, *(piece.format(entity) for piece in sorted(pieces))])))
        if op == "delete":
            after, mutation = frozenset(), delete(entity, next_offset=next_offset, rev=rev)
        else:
            op = "import" if op == "diff" and not before else op
            diff = state_in_full(after) if op == "reconcile" else diff_revisions(before, after, NAMESPACES)
            mutation = mutation_of(entity, op, diff, next_offset=next_offset, rev=rev)
        history.mutations.append(mutation)
        history.revisions[entity] = after
    return history


def may_stay(triple: Triple) -> bool:
    """Whether the triple may be in the store though no entity has it any more."""
    subject, predicate, _ = split_terms(triple)
    return is_shared(triple, NAMESPACES) or (
        subject.startswith("<https://en.e.org/wiki/") and predicate != SCHEMA_ABOUT
    )


def assert_last_revisions(store: pyoxigraph.Store, history: History) -> None:
    """The store has the last revision of each entity, and nothing else that has to go."""
    expected = set[Triple]().union(*history.revisions.values())
    triples = triples_in(store)
    assert expected - triples == set()
    assert {triple for triple in triples - expected if not may_stay(triple)} == set()
