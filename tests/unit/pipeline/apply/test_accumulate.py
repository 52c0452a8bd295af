from typing import Any

import pytest

from pipeline.apply.accumulate import MutationBatch, Patch, share_sitelinks
from pipeline.apply.reassemble import Mutation
from pipeline.rdf.revision_diff import TripleDiff
from tests.unit.pipeline.apply.mutations import delete, edit, import_of, reconcile
from tests.unit.pipeline.rdf.turtle_texts import triples_of

A, B, C = 'wd:Q1 wdt:P1 "a" .', 'wd:Q1 wdt:P1 "b" .', 'wd:Q1 wdt:P1 "c" .'
OF_Q2 = 'wd:Q2 wdt:P1 "a" .'
REFERENCE = 'wdref:1 pr:P1 "a" .'
PAGE = "<https://en.e.org/wiki/A> a schema:Article ; schema:isPartOf <https://en.e.org/> ."


def about(entity: str) -> str:
    return f"<https://en.e.org/wiki/A> schema:about wd:{entity} ."


def patch_of(cleared: tuple[str, ...] = (), deleted: str = "", inserted: str = "", *, pages: str = "") -> Patch:
    return Patch(cleared, tuple(sorted(triples_of(deleted))), tuple(sorted(triples_of(inserted))), tuple(pages.split()))


def batch_of(*mutations: Mutation, batch: MutationBatch | None = None) -> MutationBatch:
    batch = batch or MutationBatch()
    for mutation in mutations:
        batch.add(mutation)
    return batch


@pytest.mark.parametrize(
    ("mutations", "patch"),
    [
        ([edit("Q1", "", A + B)], patch_of(inserted=A + B)),
        ([edit("Q1", A + B, B + C), edit("Q2", "", OF_Q2)], patch_of(deleted=A, inserted=C + OF_Q2)),
        ([edit("Q1", A, B), edit("Q1", B, C)], patch_of(deleted=A + B, inserted=C)),
        ([edit("Q1", A, B), edit("Q1", B, A)], patch_of(deleted=B, inserted=A)),
        ([edit("Q1", "", REFERENCE), edit("Q1", REFERENCE, "")], patch_of(inserted=REFERENCE)),
        ([edit("Q1", REFERENCE, "")], patch_of()),
        ([edit("Q1", A, ""), edit("Q2", "", A)], patch_of(inserted=A)),
        ([edit("Q1", "", A), edit("Q2", A, "")], patch_of(inserted=A)),
        ([edit("Q1", A, B), delete("Q1")], patch_of(cleared=("Q1",))),
        ([edit("Q1", "", A + REFERENCE), edit("Q2", "", REFERENCE), delete("Q1")],
         patch_of(cleared=("Q1",), inserted=REFERENCE)),
        ([delete("Q1"), edit("Q1", "", A)], patch_of(cleared=("Q1",), inserted=A)),
        ([delete("Q1"), edit("Q1", "", A), edit("Q1", A, B)], patch_of(cleared=("Q1",), deleted=A, inserted=B)),
        ([edit("Q1", A, B), reconcile("Q1", C + REFERENCE)], patch_of(cleared=("Q1",), inserted=C + REFERENCE)),
        ([reconcile("Q1", A), delete("Q1"), delete("Q2")], patch_of(cleared=("Q1", "Q2"))),
        ([import_of("Q1", A), import_of("Q2", OF_Q2)], patch_of(cleared=("Q1",), inserted=A + OF_Q2)),
        ([edit("Q1", A, B), import_of("Q1", C)], patch_of(cleared=("Q1",), inserted=C)),
        ([delete("Q2"), import_of("Q2", OF_Q2)], patch_of(cleared=("Q2",), inserted=OF_Q2)),
        ([edit("Q1", "", PAGE + about("Q1")), edit("Q1", PAGE, "")], patch_of(inserted=PAGE + about("Q1"))),
        ([edit("Q1", "", PAGE + about("Q1"))], patch_of(inserted=PAGE + about("Q1"), pages="<https://en.e.org/wiki/A>")),
        ([edit("Q1", "", PAGE), edit("Q1", "<https://en.e.org/wiki/A> schema:isPartOf <https://en.e.org/> .", "")],
         patch_of(inserted="<https://en.e.org/wiki/A> a schema:Article .",
                  deleted="<https://en.e.org/wiki/A> schema:isPartOf <https://en.e.org/> .",
                  pages="<https://en.e.org/wiki/A>")),
    ],
)  # fmt: skip
def test_mutations_become_one_patch(mutations: list[Mutation], patch: Patch) -> None:
    """The store has none of Q2."""
    assert batch_of(*mutations, batch=MutationBatch(absent={"Q2"})).patch() == patch


def test_whole_sitelinks_are_shared_but_for_their_entity() -> None:
    badge = "<https://en.e.org/wiki/B> wikibase:badge wd:Q3 ."
    diff = TripleDiff(
        added=tuple(triples_of(A + PAGE + about("Q1") + badge)), deleted=tuple(triples_of(PAGE.replace("A>", "C>")))
    )
    assert share_sitelinks(diff) == TripleDiff(
        added=tuple(triples_of(A + about("Q1") + badge)),
        linked_shared=tuple(triples_of(PAGE)),
        unlinked_shared=tuple(triples_of(PAGE.replace("A>", "C>"))),
    )


@pytest.mark.parametrize(
    ("policy", "mutations", "patch"),
    [
        ({"unlinked": "delete"}, [edit("Q1", REFERENCE, "")], patch_of(deleted=REFERENCE)),
        ({"unlinked": "delete"}, [edit("Q1", REFERENCE, ""), edit("Q1", "", REFERENCE)], patch_of(inserted=REFERENCE)),
        ({"unlinked": "delete"}, [edit("Q1", "", REFERENCE), edit("Q1", REFERENCE, "")], patch_of(deleted=REFERENCE)),
        ({"deletes": "ignore"}, [edit("Q1", "", A), delete("Q1")], patch_of(inserted=A)),
        ({"sitelinks": "as_sent"}, [edit("Q1", PAGE + about("Q1"), "")], patch_of(deleted=PAGE + about("Q1"))),
    ],
)
def test_a_policy_changes_the_patch(policy: dict[str, Any], mutations: list[Mutation], patch: Patch) -> None:
    assert batch_of(*mutations, batch=MutationBatch(**policy)).patch() == patch


@pytest.mark.parametrize(
    ("mutations", "present", "absent"),
    [
        ([edit("Q1", A + B, B + C)], A, C),
        ([edit("Q1", A, B), edit("Q1", B, C)], A, B + C),
        ([edit("Q1", A, B), edit("Q1", B, A)], A, B),
        ([edit("Q1", "", A), edit("Q1", A, "")], "", A),
        ([edit("Q1", REFERENCE, A)], "", A),
        ([edit("Q1", A, REFERENCE)], A, ""),
        ([edit("Q1", "", PAGE + about("Q1"))], "", about("Q1")),
        ([edit("Q1", A, ""), edit("Q2", "", A)], "", ""),
        ([edit("Q1", A, B), delete("Q1"), edit("Q2", "", OF_Q2)], "", OF_Q2),
        ([reconcile("Q1", A)], "", ""),
        ([import_of("Q1", A), import_of("Q2", OF_Q2)], "", OF_Q2),
    ],
)
def test_what_a_batch_expects_of_the_store(mutations: list[Mutation], present: str, absent: str) -> None:
    expected = (tuple(sorted(triples_of(present))), tuple(sorted(triples_of(absent))))
    assert batch_of(*mutations, batch=MutationBatch(absent={"Q2"})).expectation({}) == expected


def test_nothing_is_expected_of_an_entity_that_the_store_has_at_a_revision_of_the_batch() -> None:
    """All mutations of these tests are of revision 1."""
    batch = batch_of(edit("Q1", A, B), edit("Q2", "", OF_Q2), delete("Q3"))
    assert batch.probed_entities == ("Q1", "Q2")
    assert batch.expectation({"Q1": 1, "Q2": 0}) == ((), tuple(triples_of(OF_Q2)))


def test_a_batch_counts_what_it_left_out() -> None:
    batch = batch_of(edit("Q1", REFERENCE + PAGE, ""), delete("Q2"), batch=MutationBatch(deletes="ignore"))
    assert (batch.mutations, batch.orphans, batch.ignored_deletes) == (2, 3, 1)


def test_the_next_offset_is_that_of_the_last_mutation_even_where_it_was_ignored() -> None:
    batch = MutationBatch(deletes="ignore")
    assert batch.next_offset is None
    batch_of(edit("Q1", "", A, next_offset=5), delete("Q1", next_offset=6), batch=batch)
    assert batch.next_offset == 6


@pytest.mark.parametrize(
    ("mutations", "weight"),
    [
        ([], 0),
        ([edit("Q1", A, B + REFERENCE)], 3),
        ([edit("Q1", A, B), edit("Q1", B, A)], 2),
        ([edit("Q1", A, B), delete("Q1")], 100),
        ([import_of("Q1", A + B)], 2),
        ([reconcile("Q1", A + B), delete("Q2")], 202),
    ],
)
def test_the_weight_of_a_batch(mutations: list[Mutation], weight: int) -> None:
    assert batch_of(*mutations).weight == weight


@pytest.mark.parametrize(
    ("bounds", "mutation", "has_room"),
    [
        ({"batch_triples": 2}, edit("Q1", "", C), True),
        ({"batch_triples": 2}, edit("Q1", "", B + C), False),
        ({"batch_triples": 101}, delete("Q2"), True),
        ({"batch_triples": 100}, delete("Q2"), False),
        ({"batch_triples": 101}, reconcile("Q2", OF_Q2), False),
        ({"batch_triples": 11, "delete_weight": 10}, delete("Q2"), True),
        ({"max_mutations": 1}, edit("Q1", "", C), False),
        ({"max_mutations": 2}, edit("Q1", "", C), True),
    ],
)
def test_a_batch_has_room_up_to_its_bounds(bounds: dict[str, Any], mutation: Mutation, has_room: bool) -> None:
    batch = MutationBatch(**bounds)
    assert batch.has_room_for(mutation), "an empty batch takes any"
    batch.add(edit("Q1", "", A))
    assert batch.has_room_for(mutation) is has_room
