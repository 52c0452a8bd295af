"""An audit of arrivals made by hand, and events that all tests of it know."""

from collections.abc import Callable, Iterable
from typing import Any

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.audit import DeliveryAudit
from devkit.observe.audit.model import Audit
from devkit.observe.audit.replays import NO_REPLAYS, Replays
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.checkpoint import OffsetRange, Offsets
from tests.unit.devkit.observe.audit.events import ERROR, SOURCE, TRUTH, source_event

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
    replays: Replays = NO_REPLAYS,
    names_missing: bool = False,
) -> Audit:
    held = DeliveryAudit(events, truth=TRUTH, resolve=resolve)
    for one in arrivals:
        (held.add_error if one.topic == ERROR else held.add_output)(one)
    return held.finish(committed, replays=replays, names_missing=names_missing)


def nonzero(figures: Audit) -> dict[str, Any]:
    return {name: value for name, value in figures.model_dump(exclude={"examples"}).items() if value}
