"""Each cell of the source's table of transitions."""

from itertools import product

import pytest

from pipeline.updater.source_event import ACTIONS, Action
from pipeline.updater.transitions import Transition, decide
from tests.unit.pipeline.updater.source_rules import TABLE

LAST = {"undefined": 0, "created": 20, "deleted": -20}
REV = {"any": 7, "older": 19, "same": 20, "newer": 21}


def test_the_table_has_a_cell_for_every_state_and_event() -> None:
    rows = [("undefined", "any"), *product(("created", "deleted"), ("older", "same", "newer"))]
    assert set(TABLE) == {(*row, action) for row in rows for action in ACTIONS}


@pytest.mark.parametrize(("status", "relation", "action"), TABLE, ids=" ".join)
def test_a_transition_is_that_of_the_source(status: str, relation: str, action: Action) -> None:
    last, rev = LAST[status], REV[relation]
    op, _, rest = TABLE[status, relation, action].partition(" ")
    transition = decide(last, action, rev)
    if not rest:
        assert transition == Transition(last, inconsistency=op)  # type: ignore[arg-type]
        return
    whose, _, doubt = rest.partition(" ")
    operated = rev if whose == "event" else abs(last)
    assert (transition.op, transition.rev, transition.inconsistency) == (op, operated, doubt or None)
    assert transition.last == (-operated if op == "delete" else operated)
    assert transition.from_rev == (last if op == "diff" else None)


@pytest.mark.parametrize(("last", "rev"), [(0, 1), (20, 20), (-20, 20)])
def test_a_deletion_of_unknown_revision_is_made_whatever_is_known(last: int, rev: int) -> None:
    """The entity is then as one that was never seen, so that its next event imports it."""
    assert decide(last, "reconcile-deletion", 0) == Transition(0, "delete", rev)
