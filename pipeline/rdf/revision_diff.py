"""The difference of two munged revisions of an entity, owned triples apart from those that entities share.

Shared are triples about a reference or a value, whose IRIs are digests of their content, and the group of a wiki. An
entity does not know who else links them: it may say that it links one, or does not any more, and nothing else.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from pipeline.rdf.concept_namespaces import ConceptNamespaces, is_in_namespace
from pipeline.rdf.triples import Triple, split_terms
from pipeline.rdf.vocabulary import WIKIBASE_WIKI_GROUP


@dataclass(frozen=True, slots=True)
class TripleDiff:
    """The four parts of a mutation, each sorted when it is made by this module."""

    added: tuple[Triple, ...] = ()
    deleted: tuple[Triple, ...] = ()
    linked_shared: tuple[Triple, ...] = ()
    unlinked_shared: tuple[Triple, ...] = ()

    def __len__(self) -> int:
        """Number of triples in all parts."""
        return len(self.added) + len(self.deleted) + len(self.linked_shared) + len(self.unlinked_shared)


def diff_revisions(
    before: AbstractSet[Triple], after: AbstractSet[Triple], namespaces: ConceptNamespaces
) -> TripleDiff:
    """What makes `after` of `before`; an import has nothing before."""
    added, linked_shared = _divide(after - before, namespaces)
    deleted, unlinked_shared = _divide(before - after, namespaces)
    return TripleDiff(added, deleted, linked_shared, unlinked_shared)


def state_in_full(triples: Iterable[Triple]) -> TripleDiff:
    """What a reconcile carries: all triples of the entity, shared ones as well, as added."""
    return TripleDiff(added=tuple(sorted(triples)))


def is_shared(triple: Triple, namespaces: ConceptNamespaces) -> bool:
    """Whether other entities may have the triple too."""
    subject, predicate, _ = split_terms(triple)
    return (
        is_in_namespace(subject, namespaces.reference)
        or is_in_namespace(subject, namespaces.value)
        or predicate == WIKIBASE_WIKI_GROUP
    )


def _divide(triples: Iterable[Triple], namespaces: ConceptNamespaces) -> tuple[tuple[Triple, ...], tuple[Triple, ...]]:
    """Owned and shared ones."""
    owned, shared = list[Triple](), list[Triple]()
    for triple in sorted(triples):
        (shared if is_shared(triple, namespaces) else owned).append(triple)
    return tuple(owned), tuple(shared)
