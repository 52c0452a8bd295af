"""Whether mutations have their entities below the configured base: a delete asks for what is below it, and one that
asks for another base deletes nothing, without an error.
"""

from pipeline.apply.mutation_store import MutationStore
from pipeline.errors import UnreadableSourceError
from pipeline.rdf.mutation import MutationChunk
from pipeline.rdf.triples import split_terms
from pipeline.rdf.vocabulary import SCHEMA_VERSION


class ConceptBaseCheck:
    """Compares `apply.concept_base` with each mutation, as each has its entity's version but a delete. Where the first
    one is a delete, it compares with the store.
    """

    def __init__(self, base: str, store: MutationStore) -> None:
        self._base, self._store = base, store
        self._is_confirmed = False

    def check(self, chunk: MutationChunk, place: str) -> None:
        """Raises UnreadableSourceError, with both values, and what the store raises."""
        end = f"/entity/{chunk.entity}>"
        for triple in chunk.diff.added:
            if SCHEMA_VERSION in triple:
                subject, predicate, _ = split_terms(triple)
                if predicate == SCHEMA_VERSION and subject.endswith(end):
                    self._compare(subject[1 : -len(end)], f"record {place} has {chunk.entity}")
        if chunk.op == "delete" and not self._is_confirmed:
            self._compare(self._store.other_concept_base() or self._base, "the store has its entities")

    def _compare(self, base: str, subject: str) -> None:
        if base != self._base:
            raise UnreadableSourceError(
                f"{subject} below {base[:200]}; apply.concept_base is {self._base}",
                hint="set it to rdf.concept_base of `rdf-resolve`; the mutation was not applied",
            )
        self._is_confirmed = True
