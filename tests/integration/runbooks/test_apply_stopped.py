"""docs/runbooks/apply-stopped.md: the store loses its data while `apply` runs, and an operator has an older copy.

Checked beside what the page shows: the store has all statements at the end, those since the copy too.
"""

from tests.integration.runbooks.apply_place import statement
from tests.integration.runbooks.conftest import MakeApplyOperator

ROOMS = ("docs/runbooks", "pipeline/apply")


def test_the_page(make_apply_operator: MakeApplyOperator) -> None:
    operator = make_apply_operator("apply-stopped.md")
    place = operator.bench
    operator.start("--new", "earliest")
    place.write(added=[statement("a"), statement("b")])
    operator.until(lambda: place.next_offset() == 1, "the import to be in the store")
    assert operator.stop() == 0
    place.copy_store()
    operator.start()
    place.write(added=[statement("c")], deleted=[statement("a")])
    operator.until(lambda: place.next_offset() == 2, "the diff to be in the store")
    operator.until(lambda: operator.logged("mutations_applied", next_offset=2), "the offset to be reported")
    place.empty_store()
    assert operator.await_end() == 2

    operator.step("First check")
    place.restore_store()
    assert place.next_offset() == 1
    operator.step("Restore the store")
    operator.until(place.has_no_lag, "the store to have caught up")
    operator.step("It is over when")
    operator.finish()
    assert operator.stop() == 0
    divergence = place.divergence(present=["b", "c"], absent=["a"])
    assert (divergence.missing, divergence.unexpected) == (0, 0)
