"""A claim check that the program has removed is no fault where a later event of its page asks for that."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from devkit.observe.audit.claim_check import ClaimSuppressedError, may_suppress
from devkit.observe.audit.source_event import SourceEvent
from tests.unit.devkit.observe.audit.audited import audit
from tests.unit.devkit.observe.audit.events import arrival, claim_headers, source_event, without_bodies

EDIT = source_event(5)
HIDDEN = {"is_comment_visible": False}


def changed(event: SourceEvent, **changes: Any) -> SourceEvent:
    return replace(event, value=orjson.dumps(orjson.loads(event.value) | changes))


DELETE = changed(source_event(6), page_change_kind="delete")


def hiding(revision: int, offset: int = 6) -> SourceEvent:
    return changed(source_event(offset), revision={"rev_id": revision} | HIDDEN)


@pytest.mark.parametrize(
    ("later", "may"),
    [
        (DELETE, True),
        (hiding(20), True),
        (hiding(10), False),
        (source_event(6), False),
        (changed(source_event(4), page_change_kind="delete"), False),
        (changed(source_event(6, page=2), page_change_kind="delete"), False),
        (changed(source_event(6, partition=1), page_change_kind="delete"), False),
        (replace(source_event(6), value=b"no JSON"), False),
    ],
)
def test_what_may_suppress_an_edit(later: SourceEvent, may: bool) -> None:
    by = "/".join(map(str, later.position))
    assert may_suppress([EDIT, later], by, EDIT) == may
    assert not may_suppress([EDIT], by, EDIT), "an event that was never published"


def test_a_hidden_parent_suppresses_its_child() -> None:
    child = changed(EDIT, revision={"rev_id": 20, "rev_parent_id": 10})
    assert may_suppress([child, hiding(10)], "page_change/0/6", child)


@pytest.mark.parametrize(("later", "is_right"), [(DELETE, True), (source_event(6), False)])
def test_the_audit_names_what_was_removed_for_no_reason(later: SourceEvent, is_right: bool) -> None:
    def removed(_headers: dict[str, bytes]) -> bytes:
        raise ClaimSuppressedError("claims/payload was removed", "page_change/0/6")

    left = arrival(EDIT, without_bodies(EDIT), headers=claim_headers(b"payload"))
    figures = audit([EDIT, later], left, committed={("page_change", 0): 6}, resolve=removed)
    assert (figures.outputs, figures.mismatched, figures.claim_checks) == (1, not is_right, 0)
    assert ("no later event that deletes or hides it" in str(figures.examples)) is not is_right
