"""Events that came too late for their job: a fate of their own, beside outputs and errors."""

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.audit import DeliveryAudit
from devkit.observe.audit.model import Audit
from devkit.observe.audit.replays import NO_REPLAYS, Replays
from devkit.observe.audit.source_event import SourceEvent
from tests.unit.devkit.observe.audit.audited import ALL, CANARY, EDIT, FAILING, FIRST_TEN, no_store, nonzero
from tests.unit.devkit.observe.audit.events import TRUTH, arrival, error_of, output_of

LAPSED = "mediawiki.lapsed"


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
