"""Events that came too late for their job: a fate of their own, beside outputs and errors."""

from dataclasses import replace
from typing import Any

import pytest

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.audit import DeliveryAudit
from devkit.observe.audit.model import Audit
from devkit.observe.audit.replays import NO_REPLAYS, Replays
from devkit.observe.audit.source_event import SourceEvent
from pipeline.schemas import LAPSED_URI
from tests.unit.devkit.observe.audit.audited import ALL, CANARY, EDIT, FAILING, FIRST_TEN, no_store, nonzero
from tests.unit.devkit.observe.audit.events import TRUTH, arrival, error_of, output_of

LAPSED = "mediawiki.lapsed"
SAID = {"topic": "page_change", "partition": 0, "offset": 0}


def lapsed(event: SourceEvent, *, at: int = 0, timestamp_ms: int = 0) -> Arrival:
    return arrival(event, b"{}", topic=LAPSED, at=at, timestamp_ms=timestamp_ms)


def audited(
    events: list[SourceEvent], *, late: list[Arrival], outputs: list[Arrival], replays: Replays = NO_REPLAYS
) -> Audit:
    audit = DeliveryAudit(events, truth=TRUTH, resolve=no_store)
    for one in outputs:
        audit.add_output(one)
    audit.add_error(error_of(FAILING))
    for one in late:
        audit.add_lapsed(one)
    return audit.finish(ALL, None, replays)


def test_what_lapsed_is_counted_as_that_and_not_as_lost() -> None:
    figures = audited([EDIT, FAILING, CANARY], late=[lapsed(EDIT)], outputs=[])
    assert nonzero(figures) == {"inputs": 3, "errors": 1, "filtered": 1, "lapsed": 1}
    assert figures.problems() == {"lapsed": 1}
    (example,) = figures.examples
    assert example.startswith(f"lapsed: {EDIT.name}, record {LAPSED}/0/0: lapsed; expected an output")


def test_an_output_of_what_lapsed_before_contradicts_it() -> None:
    figures = audited([EDIT, FAILING], late=[lapsed(EDIT)], outputs=[output_of(EDIT, timestamp_ms=5)])
    assert (figures.lapsed, figures.outputs, figures.conflicting) == (1, 0, 1)
    again = audited(
        [EDIT, FAILING],
        late=[lapsed(EDIT)],
        outputs=[output_of(EDIT, timestamp_ms=5)],
        replays=Replays(1, (FIRST_TEN, FIRST_TEN)),
    )
    assert (again.lapsed, again.problems()) == (1, {"lapsed": 1})


def test_a_lapsed_event_that_was_made_again_is_a_repeat() -> None:
    figures = audited([EDIT, FAILING], late=[lapsed(EDIT), lapsed(EDIT, at=1)], outputs=[])
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
    figures = audited([EDIT, FAILING], late=[late], outputs=[])
    assert figures.mismatched == (wrong is not None)
    assert wrong is None or f"mismatched: {EDIT.name}, record {LAPSED}/0/0: {wrong}" in figures.examples[1]
