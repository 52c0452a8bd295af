"""Histories of two entities for property tests, and what may stay of them in a store."""

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
    "<https://en.e.org/wiki/A> a schema:Article ; schema:name 'A' ; schema:about wd:{0} .",
)
REVISIONS = st.frozensets(st.sampled_from(PIECES))
# Of a run of diffs most can go wrong.
OPS: list[Op] = ["diff", "diff", "diff", "delete", "reconcile"]


@dataclass
class History:
    """Mutations of two entities, and the revision that each has after all of them."""

    mutations: list[Mutation] = field(default_factory=list)
    revisions: dict[str, frozenset[Triple]] = field(default_factory=dict)


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Each entity begins without triples."""
    history = History()
    steps = st.lists(st.tuples(st.sampled_from(["Q1", "Q2"]), st.sampled_from(OPS), REVISIONS), max_size=8)
    for next_offset, (entity, op, pieces) in enumerate(draw(steps), start=1):
        before = history.revisions.get(entity, frozenset())
        after = frozenset(triples_of(" ".join(piece.format(entity) for piece in sorted(pieces))))
        if op == "delete":
            after, mutation = frozenset(), delete(entity, next_offset=next_offset)
        else:
            diff = diff_revisions(before, after, NAMESPACES) if op == "diff" else state_in_full(after)
            mutation = mutation_of(entity, op, diff, next_offset=next_offset)
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
