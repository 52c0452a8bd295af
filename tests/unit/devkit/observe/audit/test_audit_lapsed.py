"""Events that came too late for their job: a fate of their own, beside outputs and errors."""

from dataclasses import replace
from typing import Any

import pytest

from devkit.observe.audit.replays import NO_REPLAYS, Replays
from pipeline.schemas import LAPSED_URI
from tests.unit.devkit.observe.audit.audited import CANARY, EDIT, FAILING, FIRST_TEN, LAPSED, audit, lapsed, nonzero
from tests.unit.devkit.observe.audit.events import arrival, error_of, output_of

SAID = {"topic": "page_change", "partition": 0, "offset": 0}


def test_what_lapsed_is_counted_as_that_and_not_as_lost() -> None:
    figures = audit([EDIT, FAILING, CANARY], error_of(FAILING), lapsed(EDIT))
    assert nonzero(figures) == {"inputs": 3, "errors": 1, "filtered": 1, "lapsed": 1}
    assert figures.problems() == {"lapsed": 1}
    (example,) = figures.examples
    assert example.startswith(f"lapsed: {EDIT.name}, record {LAPSED}/0/0: lapsed; expected an output")


@pytest.mark.parametrize(
    ("replays", "problems"), [(NO_REPLAYS, {"lapsed": 1, "conflicting": 1}), (Replays(1, (FIRST_TEN,)), {"lapsed": 1})]
)
def test_an_output_of_what_lapsed_before_contradicts_it(replays: Replays, problems: dict[str, int]) -> None:
    figures = audit([EDIT], output_of(EDIT, timestamp_ms=5), lapsed(EDIT), replays=replays)
    assert (figures.lapsed, figures.outputs, figures.conflicting, figures.problems()) == (1, 0, 1, problems)


def test_a_lapsed_event_that_was_made_again_is_a_repeat() -> None:
    figures = audit([EDIT], lapsed(EDIT), lapsed(EDIT, at=1))
    assert (figures.lapsed, figures.duplicated, figures.conflicting) == (1, 1, 0)


@pytest.mark.parametrize(
    ("said", "key", "wrong"),
    [
        ({"source": SAID, "event_id": "id-0-0"}, EDIT.key, None),
        ({"source": SAID | {"offset": 7}}, EDIT.key, "it says that page_change/0/7 lapsed"),
        ({"source": SAID, "event_id": "id-0-7"}, EDIT.key, "it says that event id-0-7 lapsed"),
        ({"source": {}}, EDIT.key, "not a lapsed_action event: KeyError('topic')"),
        ({"source": SAID}, b"page 2", "its key is 'page 2'; expected 'page 1'"),
        ({"$schema": LAPSED_URI}, EDIT.key, "not valid by /enrichment/lapsed_action/1.0.0 at (top): "),
    ],
    ids=["its own", "another position", "another id", "no position", "another key", "not by its schema"],
)
def test_what_a_lapsed_event_says_is_of_its_own(said: dict[str, Any], key: bytes, wrong: str | None) -> None:
    """What lapsed is sent again by that."""
    late = replace(arrival(EDIT, said, topic=LAPSED), key=key)
    figures = audit([EDIT, FAILING], error_of(FAILING), late)
    assert figures.mismatched == (wrong is not None)
    assert wrong is None or f"mismatched: {EDIT.name}, record {LAPSED}/0/0: {wrong}" in figures.examples[1]
