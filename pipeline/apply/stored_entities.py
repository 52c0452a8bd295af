"""Which mutations the store can take, by what it has of their entities.

A mutation may come again after a restart: its producer writes it again, or the store was loaded from a dump. A diff
that is older than the store's revision would leave triples of statements that nothing links any more, and so would one
of an entity that is gone: a delete finds statements by their links. So it is not applied:

    the store has none of the entity            it was deleted, or its import is missing
    the store has its revision, or a later one  the mutation is a repeat
    the store has a redirect, without revision  so is a diff that has a revision to delete

An import writes all of an entity. It is a repeat where the store has a later revision; where the store has another one,
what it has is deleted first.

A diff from another revision than the store has, an earlier one, is applied: a revision between was not to be had. What
may be in the store by a part is applied again, as far as the store has the entity.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pipeline.apply.reassemble import Mutation
from pipeline.rdf.triples import split_terms
from pipeline.rdf.vocabulary import SCHEMA_VERSION


@dataclass
class FittingMutations:
    """The mutations of a batch that the store can take, in their order, and the others: `absent` has those whose entity
    is not in the store. `replayed` has the store's revision of each entity that goes back, as parts of it may be there.
    """

    fitting: list[Mutation] = field(default_factory=list)
    repeats: list[Mutation] = field(default_factory=list)
    absent: list[Mutation] = field(default_factory=list)
    replayed: dict[str, int] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    """The entities that were asked for and are not in the store."""


def select_fitting(
    mutations: Iterable[Mutation], asked: Iterable[str], stored: Mapping[str, int], *, torn_until: float
) -> FittingMutations:
    """`stored` has the revisions of the `asked` entities, as `MutationStore.revisions`; mutations of others fit. What
    ends before `torn_until` may be in the store by a part.
    """
    revisions: dict[str, int | None] = {entity: stored.get(entity) for entity in asked}
    selected = FittingMutations(missing={entity for entity in revisions if entity not in stored})
    for mutation in mutations:
        revision = revisions.get(mutation.entity)
        if mutation.entity in revisions and mutation.op == "diff":
            if revision is None:
                selected.absent.append(mutation)
                continue
            if _is_repeat(mutation, revision):
                if mutation.next_offset > torn_until:
                    selected.repeats.append(mutation)
                    continue
                selected.replayed.setdefault(mutation.entity, revision)
        if mutation.op == "import" and (revision or 0) > mutation.rev and mutation.next_offset > torn_until:
            selected.repeats.append(mutation)
            continue
        if mutation.entity in revisions:
            revisions[mutation.entity] = None if mutation.op == "delete" else mutation.rev
        selected.fitting.append(mutation)
    return selected


def _is_repeat(diff: Mutation, revision: int) -> bool:
    if revision:
        return revision >= diff.rev
    return any(split_terms(triple)[1] == SCHEMA_VERSION for triple in diff.diff.deleted)
