"""Several mutations as one batch: per entity the triples to delete and to insert; of a triple the last change counts.

    weight     number of triples, and `delete_weight` for each entity whose triples are deleted by query. That of an
               import is not counted, as it deletes about as much as it writes, and most often nothing
    sitelinks  the triples of a sitelink, all but `schema:about`, count as shared: when two entities are merged the
               mutation that adds the link may come before the one that deletes it
    badges     they are of the entity that linked the page last: a whole sitelink replaces those that the page has, and
               one that is deleted takes its badges along unless another entity has the page. A badge that an entity
               adds to a page that another one has linked meanwhile stays
    shared     triples that an entity does not link any more stay, as another entity may link them

A triple that is added and then deleted is deleted: to leave both out is right only where no mutation comes again, and
the producer may write one again that the store has.

A delete, a reconcile or an import forgets what the batch has of the entity: the request deletes by query first. After
an import it does not where the store has none of the entity. Where two requests were executed at the same moment, it
also deletes the triples of the entity that either may have left without a link.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Literal

from pipeline.apply.reassemble import Mutation
from pipeline.rdf.revision_diff import TripleDiff
from pipeline.rdf.triples import Triple, split_terms
from pipeline.rdf.vocabulary import RDF_TYPE, SCHEMA_ABOUT, SCHEMA_ARTICLE, WIKIBASE_BADGE

BATCH_TRIPLES = 1_000
DELETE_WEIGHT = 100


@dataclass(frozen=True, slots=True)
class Patch:
    """What one request does, in this order: delete the entities of `cleared` by query, and badges, then triples, then
    insert. Entities are ids; all are sorted. All badges of `pages`, which are terms, are deleted. Those of `released`
    are where no other entity than theirs has the page.
    """

    cleared: tuple[str, ...] = ()
    deleted: tuple[Triple, ...] = ()
    inserted: tuple[Triple, ...] = ()
    pages: tuple[str, ...] = ()
    released: tuple[tuple[Triple, str], ...] = ()


@dataclass
class _EntityChanges:
    is_cleared: bool = False
    is_imported: bool = False
    """It is deleted by query unless the store has none of it."""
    first_rev: int | None = None
    added: set[Triple] = field(default_factory=set)
    deleted: set[Triple] = field(default_factory=set)
    linked: set[Triple] = field(default_factory=set)
    unlinked: set[Triple] = field(default_factory=set)
    pages: set[str] = field(default_factory=set)
    released: set[Triple] = field(default_factory=set)
    added_first: set[Triple] = field(default_factory=set)
    deleted_first: set[Triple] = field(default_factory=set)

    def __len__(self) -> int:
        parts = (self.added, self.deleted, self.linked, self.unlinked, self.pages, self.released)
        return sum(map(len, parts))


@dataclass
class MutationBatch:
    """The policies are the defaults; each other value is for an experiment."""

    batch_triples: int = BATCH_TRIPLES
    delete_weight: int = DELETE_WEIGHT
    max_mutations: int | None = None
    unlinked: Literal["keep", "delete"] = "keep"
    deletes: Literal["apply", "ignore"] = "apply"
    sitelinks: Literal["shared", "as_sent"] = "shared"
    leftovers: Mapping[str, Set[Triple]] = field(default_factory=dict)
    """By entity, what a delete may not find by query."""
    absent: set[str] = field(default_factory=set)
    """Entities of which the store has none, by what it answered."""
    mutations: int = 0
    """Number of mutations in the batch."""
    orphans: int = 0
    """Number of triples that were not linked any more and stay."""
    ignored_deletes: int = 0
    next_offset: int | None = None
    """The offset behind the last mutation; None in an empty batch."""
    _changes: dict[str, _EntityChanges] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """Number of triples, and `delete_weight` for each entity that is deleted by query."""
        changes = self._changes.values()
        return sum(len(change) + self.delete_weight * change.is_cleared for change in changes)

    def has_room_for(self, mutation: Mutation) -> bool:
        """Whether the batch stays within its bounds; an empty one takes any mutation."""
        if not self.mutations:
            return True
        if self.max_mutations is not None and self.mutations >= self.max_mutations:
            return False
        clears = mutation.op in ("delete", "reconcile")
        return self.weight + len(mutation.diff) + self.delete_weight * clears <= self.batch_triples

    def add(self, mutation: Mutation) -> None:
        """Take a mutation, which comes after all others of the batch."""
        self.mutations += 1
        self.next_offset = mutation.next_offset
        if mutation.op == "delete" and self.deletes == "ignore":
            self.ignored_deletes += 1
            return
        if mutation.op != "diff":
            before, leftovers = self._changes.get(mutation.entity), self.leftovers.get(mutation.entity, ())
            is_cleared = mutation.op != "import" or (before is not None and before.is_cleared)
            self._changes[mutation.entity] = _EntityChanges(is_cleared, mutation.op == "import", deleted={*leftovers})
        changes = self._changes.setdefault(mutation.entity, _EntityChanges())
        diff = share_sitelinks(mutation.diff) if self.sitelinks == "shared" else mutation.diff
        _change(changes, added=diff.added, deleted=diff.deleted)
        if changes.first_rev is None:
            changes.first_rev = mutation.rev
        released = _badges(diff.unlinked_shared)
        linked_pages = _pages(diff.linked_shared)
        changes.pages = changes.pages - _pages(diff.unlinked_shared) | linked_pages
        changes.released = {badge for badge in changes.released | released if split_terms(badge)[0] not in linked_pages}
        changes.added -= released
        # A part of a sitelink may be deleted by itself after all of it was linked.
        changes.linked.difference_update(diff.deleted, released)
        changes.linked.update(diff.linked_shared)
        if self.unlinked == "delete":
            changes.unlinked.difference_update(diff.linked_shared)
            changes.linked.difference_update(diff.unlinked_shared)
            changes.unlinked.update(diff.unlinked_shared)
        else:
            self.orphans += len(diff.unlinked_shared) - len(released)

    def patch(self) -> Patch:
        """What the batch does. A triple that one entity deletes and another one adds is inserted."""
        changes = self._changes
        inserted = set[Triple]().union(*(change.added | change.linked for change in changes.values()))
        deleted = set[Triple]().union(*(change.deleted | change.unlinked for change in changes.values()))
        cleared = sorted(entity for entity, change in changes.items() if self._is_cleared(entity, change))
        pages = set[str]().union(*(change.pages for change in changes.values()))
        released = sorted(
            (badge, entity)
            for entity, change in changes.items()
            for badge in change.released - inserted
            if split_terms(badge)[0] not in pages
        )
        return Patch(
            tuple(cleared),
            tuple(sorted(deleted - inserted)),
            tuple(sorted(inserted)),
            tuple(sorted(pages)),
            tuple(released),
        )

    @property
    def probed_entities(self) -> tuple[str, ...]:
        """The entities of which the batch expects something."""
        changes = self._changes.items()
        return tuple(sorted(entity for entity, change in changes if not self._is_cleared(entity, change)))

    def _is_cleared(self, entity: str, change: _EntityChanges) -> bool:
        return change.is_cleared or (change.is_imported and entity not in self.absent)

    def expectation(self, versions: Mapping[str, int]) -> tuple[tuple[Triple, ...], tuple[Triple, ...]]:
        """The triples that the store should have before the batch, and those that it should not have: what entities
        first delete and first add. Neither has shared triples, as other entities may link them, nor those of cleared
        entities, nor those of an entity whose revision in the store, in `versions`, is one of the batch or a later one:
        its mutations have come again.
        """
        kept = [
            change
            for entity, change in self._changes.items()
            if not self._is_cleared(entity, change)
            and change.first_rev is not None
            and versions.get(entity, 0) < change.first_rev
        ]
        added = set[Triple]().union(*(change.added_first for change in kept))
        deleted = set[Triple]().union(*(change.deleted_first for change in kept))
        linked = set[Triple]().union(*(change.linked for change in self._changes.values()))
        return tuple(sorted(deleted - added - linked)), tuple(sorted(added - deleted - linked))


def _change(changes: _EntityChanges, *, added: Iterable[Triple], deleted: Iterable[Triple]) -> None:
    for triple in deleted:
        if not any(triple in touched for touched in (changes.added, changes.deleted, changes.linked)):
            changes.deleted_first.add(triple)
        changes.added.discard(triple)
        changes.deleted.add(triple)
    for triple in added:
        if triple not in changes.added and triple not in changes.deleted:
            changes.added_first.add(triple)
        changes.deleted.discard(triple)
        changes.added.add(triple)


def share_sitelinks(diff: TripleDiff) -> TripleDiff:
    """The diff with whole sitelinks, all of them but `schema:about`, moved from added to linked and from deleted to
    unlinked. A sitelink of which only some triples change has no type in the diff, and stays.
    """
    added, linked = _divide_sitelinks(diff.added)
    deleted, unlinked = _divide_sitelinks(diff.deleted)
    return TripleDiff(added, deleted, diff.linked_shared + linked, diff.unlinked_shared + unlinked)


def _badges(triples: Iterable[Triple]) -> set[Triple]:
    return {triple for triple in triples if split_terms(triple)[1] == WIKIBASE_BADGE}


def _pages(triples: Iterable[Triple]) -> set[str]:
    terms = map(split_terms, triples)
    return {subject for subject, *rest in terms if tuple(rest) == (RDF_TYPE, SCHEMA_ARTICLE)}


def _divide_sitelinks(triples: tuple[Triple, ...]) -> tuple[tuple[Triple, ...], tuple[Triple, ...]]:
    terms = [split_terms(triple) for triple in triples]
    articles = _pages(triples)
    others, moved = list[Triple](), list[Triple]()
    for triple, (subject, predicate, _) in zip(triples, terms, strict=True):
        is_moved = subject in articles and predicate != SCHEMA_ABOUT
        (moved if is_moved else others).append(triple)
    return tuple(others), tuple(moved)
