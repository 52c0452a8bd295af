"""An audit of arrivals made by hand, and events that all tests of it know."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.audit import DeliveryAudit
from devkit.observe.audit.model import Audit
from devkit.observe.audit.replays import NO_REPLAYS, Replays
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.checkpoint import OffsetRange, Offsets
from devkit.observe.expected_output.truth import JobTruth
from devkit.observe.kafka.deferrals import DeferredEntries
from tests.unit.devkit.observe.audit.events import ERROR, SOURCE, TRUTH, arrival, source_event

LAPSED = "mediawiki.lapsed"

EDIT = source_event(0)
FAILING = source_event(1, fate="error", reason="malformed_json")
CANARY = source_event(2, fate="filtered", reason="canary")

FIRST_TEN = OffsetRange({}, {(SOURCE, 0): 10})

ALL: Offsets = {(SOURCE, 0): 1000, (SOURCE, 1): 1000}
"""Everything is committed."""


def no_store(headers: dict[str, bytes]) -> bytes:
    raise AssertionError(f"nothing to resolve, but {headers}")


def audit(
    events: Iterable[SourceEvent],
    *arrivals: Arrival,
    committed: Offsets = ALL,
    resolve: Callable[[dict[str, bytes]], bytes] = no_store,
    entries: DeferredEntries | None = None,
    replays: Replays = NO_REPLAYS,
    names_missing: bool = False,
    truth: JobTruth | None = TRUTH,
    grown: Collection[str] = (),
) -> Audit:
    held = DeliveryAudit(events, truth=truth, resolve=resolve, grown=grown)
    for one in arrivals:
        {ERROR: held.add_error, LAPSED: held.add_lapsed}.get(one.topic, held.add_output)(one)
    return held.finish(committed, entries, replays, names_missing=names_missing)


def deferred(*keys: str) -> DeferredEntries:
    """What stands in the deferral topic."""
    entries = DeferredEntries()
    for key in keys:
        entries.take(key.encode(), b"{}")
    return entries


def lapsed(event: SourceEvent, *, at: int = 0) -> Arrival:
    return arrival(event, b"{}", topic=LAPSED, at=at)


def nonzero(figures: Audit) -> dict[str, Any]:
    return {name: value for name, value in figures.model_dump(exclude={"examples"}).items() if value}
