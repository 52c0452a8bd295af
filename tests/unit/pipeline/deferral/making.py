"""Entries for tests: short to write down, and any there can be for property tests."""

from typing import Any

from hypothesis import strategies as st

from pipeline.deferral.entry import Entry, order
from pipeline.records.record import Position

TOPICS = st.sampled_from(["a", "page_change.v1", "1", "epoch", "command"])
POSITIONS = st.builds(Position, TOPICS, st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1))
ENTRIES = st.builds(
    Entry,
    position=POSITIONS,
    key=st.none() | st.binary(max_size=20),
    value=st.none() | st.binary(max_size=50),
    appended_us=st.integers(-(2**62), 2**62),
    kind=st.sampled_from(["stuck", "waiting"]),
    attempt=st.integers(0, 1000),
    not_before_ms=st.integers(0, 2**50),
    reason=st.text(max_size=100),
    dropped=st.booleans(),
    cause=st.sampled_from([None, "batch_budget", "too_large"]),
    wiki_id=st.none() | st.text(max_size=10),
    headers=st.dictionaries(
        st.sampled_from(["traceparent", "tracestate", "epoch"]), st.binary(max_size=9), max_size=2
    ).map(lambda found: tuple(found.items())),
    counted=st.none() | st.lists(POSITIONS, max_size=5, unique=True).map(lambda found: tuple(sorted(found, key=order))),
)


def entry(offset: int, page: str = "p", **changes: Any) -> Entry:
    """An entry of partition 0 that waits, or is stuck when `stuck=True`."""
    fields: dict[str, Any] = {
        "position": Position("source", 0, offset),
        "key": page.encode(),
        "value": b"value",
        "appended_us": 1,
        "kind": "stuck" if changes.pop("stuck", False) else "waiting",
        "attempt": 0,
        "not_before_ms": 0,
        "reason": "",
    }
    return Entry(**fields | changes)


def offsets(entries: Any) -> list[int]:
    """The offsets of entries or positions, as they come."""
    return [one.position.offset if isinstance(one, Entry) else one.offset for one in entries]
