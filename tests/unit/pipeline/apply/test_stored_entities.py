import pytest

from pipeline.apply.reassemble import Mutation
from pipeline.apply.stored_entities import select_fitting
from pipeline.rdf.operation import Op
from pipeline.rdf.revision_diff import TripleDiff
from tests.unit.pipeline.apply.mutations import mutation_of
from tests.unit.pipeline.rdf.turtle_texts import triples_of


def step(before: int, after: int, *, offset: int = 0, entity: str = "Q1") -> Mutation:
    """A diff between two revisions; 0 is a redirect, which has none."""
    added, deleted = (f"wd:{entity} schema:version {rev} ." if rev else "" for rev in (after, before))
    diff = TripleDiff(tuple(triples_of(added)), tuple(triples_of(deleted)))
    return mutation_of(entity, "diff", diff, next_offset=offset or after, rev=after)


def whole(op: Op, rev: int, entity: str = "Q1") -> Mutation:
    return mutation_of(entity, op, TripleDiff(), next_offset=rev, rev=rev)


@pytest.mark.parametrize(
    ("stored", "torn_until", "mutations", "fitting", "repeats", "absent"),
    [
        ({"Q1": 1}, 0, [step(1, 2), step(2, 3)], [2, 3], [], []),
        ({"Q1": 2}, 0, [step(1, 2), step(2, 3)], [3], [2], []),
        ({"Q1": 9}, 0, [step(1, 2), step(2, 3)], [], [2, 3], []),
        # A revision between was not to be had.
        ({"Q1": 1}, 0, [step(3, 4)], [4], [], []),
        ({}, 0, [step(1, 2), step(2, 3)], [], [], [2, 3]),
        ({}, 0, [step(1, 2), whole("delete", 3), whole("import", 4), step(4, 5)], [3, 4, 5], [], [2]),
        ({"Q1": 1}, 0, [step(1, 2), whole("delete", 3), step(2, 4)], [2, 3], [], [4]),
        ({"Q1": 5}, 0, [step(1, 2), whole("delete", 3), whole("import", 4), step(4, 5)], [3, 4, 5], [2], []),
        ({"Q1": 5}, 0, [whole("reconcile", 2), step(2, 3)], [2, 3], [], []),
        ({"Q1": 5}, 0, [whole("import", 4), step(4, 5), whole("import", 6)], [6], [4, 5], []),
        ({"Q1": 5}, 0, [whole("import", 5), step(5, 6)], [5, 6], [], []),
        ({"Q1": 5}, 9, [whole("import", 4), step(4, 5)], [4, 5], [], []),
        # The store has a redirect.
        ({"Q1": 0}, 0, [step(0, 2)], [2], [], []),
        ({"Q1": 0}, 0, [step(1, 2)], [], [2], []),
        # What ends before 4 may be there by a part.
        ({"Q1": 9}, 4, [step(2, 3, offset=3), step(3, 5, offset=5)], [3, 5], [], []),
        ({}, 4, [step(2, 3, offset=3)], [], [], [3]),
        # Nothing is known of another entity.
        ({"Q1": 9}, 0, [step(1, 2, entity="Q2")], [2], [], []),
    ],
)
def test_which_mutations_a_store_can_take(
    stored: dict[str, int],
    torn_until: int,
    mutations: list[Mutation],
    fitting: list[int],
    repeats: list[int],
    absent: list[int],
) -> None:
    selected = select_fitting(mutations, {"Q1"}, stored, torn_until=torn_until)
    revs = [[mutation.rev for mutation in part] for part in (selected.fitting, selected.repeats, selected.absent)]
    assert revs == [fitting, repeats, absent]
