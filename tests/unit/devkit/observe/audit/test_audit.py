"""The audit over arrivals made by hand, and its balance over random ones."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.audit import DeliveryAudit
from devkit.observe.audit.claim_check import ClaimError
from devkit.observe.audit.replays import NO_REPLAYS, Replays
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.checkpoint import OffsetRange
from devkit.observe.kafka.deferrals import DeferredEntries
from tests.unit.devkit.observe.audit.audited import CANARY, EDIT, FAILING, FIRST_TEN, audit, deferred, no_store, nonzero
from tests.unit.devkit.observe.audit.events import (
    ERROR,
    SOURCE,
    TRUTH,
    arrival,
    claim_headers,
    enriched,
    error_of,
    output_of,
    source_event,
    without_bodies,
)
from tests.unit.devkit.observed import an_audit


def in_turn(*events: SourceEvent) -> list[Arrival]:
    """Outputs one behind the other."""
    return [output_of(event, at=at) for at, event in enumerate(events)]


def test_each_event_in_its_place() -> None:
    figures = audit([EDIT, FAILING, CANARY], output_of(EDIT), error_of(FAILING))
    assert nonzero(figures) == {"inputs": 3, "outputs": 1, "errors": 1, "filtered": 1}
    assert figures.problems() == {}
    assert figures.examples == ()


@pytest.mark.parametrize("event", [EDIT, FAILING], ids=["output", "error"])
def test_lost_is_committed_and_never_seen(event: SourceEvent) -> None:
    figures = audit([event])
    assert nonzero(figures) == {"inputs": 1, "lost": 1}
    (example,) = figures.examples
    name = {EDIT: "page 'X', event id-0-0, source page_change/0/0", FAILING: "event id-0-1, source page_change/0/1"}
    kind = {EDIT: "an output", FAILING: "an error event"}
    assert example == f"lost: {name[event]}: committed, and never emitted; expected {kind[event]}"


@pytest.mark.parametrize("record", [output_of(EDIT), error_of(EDIT)], ids=["output", "error"])
def test_a_record_without_a_value_is_no_output(record: Arrival) -> None:
    """A program that publishes null for everything would else have lost nothing."""
    figures = audit([EDIT], replace(record, value=b""))
    assert nonzero(figures) == {"inputs": 1, "lost": 1}
    assert figures.examples[0].endswith("emitted without a value; expected an output")
    behind = audit([EDIT], output_of(EDIT, at=0), replace(output_of(EDIT, at=1), value=b""))
    assert nonzero(behind) == {"inputs": 1, "outputs": 1, "conflicting": 1}


def test_pending_is_not_committed_yet() -> None:
    other = source_event(0, partition=1)
    events = [EDIT, FAILING, CANARY, other]
    first = audit(events, output_of(EDIT), committed={(SOURCE, 0): 1})
    assert nonzero(first) == {"inputs": 4, "outputs": 1, "pending": 3}
    assert nonzero(audit(events, committed={})) == {"inputs": 4, "pending": 4}


def test_where_no_commit_is_observable_each_event_that_is_missing_is_named() -> None:
    figures = audit([EDIT, FAILING, CANARY], output_of(EDIT), committed={}, names_missing=True)
    assert nonzero(figures) == {"inputs": 3, "outputs": 1, "pending": 2, "not_emitted": 1}
    (example,) = figures.examples
    assert example.startswith(f"not emitted: {FAILING.name}: expected ")
    assert figures.problems() == {}


def test_what_left_before_its_batch_failed_is_no_longer_pending() -> None:
    assert nonzero(audit([EDIT], output_of(EDIT), committed={})) == {"inputs": 1, "outputs": 1}


def test_an_event_that_came_again_is_named() -> None:
    """Beside outputs that are not the kit's, too, of which there are many."""
    others = [source_event(number, page=number) for number in range(2, 9)]
    wrong = [output_of(event, at=10 + at, html_diff=None) for at, event in enumerate(others)]
    figures = audit([EDIT, *others], output_of(EDIT), output_of(EDIT, at=1), output_of(EDIT, at=2), *wrong)
    text = f"duplicated: {EDIT.name}, record enriched/0/1: emitted 3 times, byte for byte the same"
    assert text in figures.examples
    (example,) = audit([EDIT], *(output_of(EDIT, at=at) for at in range(3)), replays=Replays(1, (FIRST_TEN,))).examples
    assert example.endswith("emitted 3 times, byte for byte the same; what was read again accounts for 1 repeat")


@pytest.mark.parametrize(
    ("replays", "excused"),
    [
        (NO_REPLAYS, 0),
        # It was in a batch that was begun twice, three times.
        (Replays(1, (FIRST_TEN,)), 1),
        (Replays(2, (FIRST_TEN, FIRST_TEN)), 2),
        (Replays(9, (FIRST_TEN,) * 9), 2),
        # Its batch was not: a restart alone excuses nothing.
        (Replays(1), 0),
        (Replays(1, (OffsetRange({(SOURCE, 0): 1}, {(SOURCE, 0): 10}),)), 0),
        (Replays(1, (OffsetRange({}, {(SOURCE, 1): 10}),)), 0),
        # Without a restart nothing is read again, whatever the program says.
        (Replays(0, (FIRST_TEN, FIRST_TEN)), 0),
        # Batches are not observable.
        (Replays(1, None), 1),
    ],
)
def test_a_repeat_is_excused_where_its_offset_was_read_again(replays: Replays, excused: int) -> None:
    repeats = output_of(EDIT), output_of(EDIT, at=1), output_of(EDIT, at=2)
    figures = audit([EDIT], *repeats, replays=replays)
    assert (figures.duplicated, figures.excused) == (2, excused)


@pytest.mark.parametrize(
    ("markers", "left"),
    [
        pytest.param((), 1, id="who marks no starts: once for each restart"),
        pytest.param((0,), 3, id="resolved before the next start"),
        pytest.param((0, 1), 2, id="found by the second start"),
        pytest.param((0, 1, 1), 1, id="found by two starts"),
        pytest.param((0, 1, 1, 1), 1, id="by more than there were restarts"),
        pytest.param((0, 2), 3, id="started again when it was resolved"),
    ],
)
def test_a_repeat_of_a_deferred_event_is_excused_once_for_each_start_that_found_it(
    markers: tuple[int, ...], left: int
) -> None:
    """A marker stands before the entry, between it and its end, or behind."""
    key = b"page_change/0/0000000000"
    records: list[list[tuple[bytes, bytes | None]]] = [[], [(key, b"{}")], [(key, None)]]
    for number, place in enumerate(markers):
        records[place].append((b"epoch/%d/x" % number, b""))
    entries = DeferredEntries()
    for record, value in (one for part in records for one in part):
        entries.take(record, value)
    outputs = (output_of(EDIT, at=at) for at in range(4))
    assert audit([EDIT], *outputs, entries=entries, replays=Replays(2)).problems() == {"duplicated": left}


@pytest.mark.parametrize(
    ("error_type", "timed_out"), [("deadline_exceeded", 1), ("timeout", 1), ("revision_not_found", 0)]
)
@pytest.mark.parametrize("error_first", [True, False])
def test_an_error_event_that_reports_a_timeout_is_told_apart(
    error_type: str, timed_out: int, error_first: bool
) -> None:
    both = [error_of(EDIT, error_type=error_type), output_of(EDIT)]
    figures = audit([EDIT], *(both if error_first else reversed(both)))
    assert (figures.conflicting, figures.timed_out, figures.timed_out_conflicts) == (1, timed_out, timed_out)
    # Where it is the event's fate it is none.
    fated = source_event(0, fate="error", reason=error_type)
    assert audit([fated], error_of(fated)).timed_out == 0


@pytest.mark.parametrize(
    "repeat",
    [output_of(EDIT, at=1, surprise=1), arrival(EDIT, enriched(EDIT), at=1, headers={"attempt": b"2"})],
    ids=["value", "headers"],
)
def test_a_repeat_with_other_content_conflicts(repeat: Arrival) -> None:
    figures = audit([EDIT], output_of(EDIT), repeat)
    assert nonzero(figures) == {"inputs": 1, "outputs": 1, "conflicting": 1}
    assert figures.examples == (
        "conflicting: page 'X', event id-0-0, source page_change/0/0, record enriched/0/1: "
        "emitted again with other content",
    )


@pytest.mark.parametrize(("error_type", "counted"), [(None, "duplicated"), ("timeout", "conflicting")])
def test_errors_repeat_and_conflict_as_outputs_do(error_type: str | None, counted: str) -> None:
    figures = audit([FAILING], error_of(FAILING), error_of(FAILING, at=1, error_type=error_type))
    assert nonzero(figures) == {"inputs": 1, "errors": 1, counted: 1}


class TestOrder:
    def test_of_one_page_counts(self) -> None:
        events = [source_event(offset) for offset in range(3)]
        figures = audit(events, *in_turn(events[1], events[0], events[2]))
        assert nonzero(figures) == {"inputs": 3, "outputs": 3, "out_of_order": 1}
        assert figures.examples == (
            "out of order: page 'X', event id-0-0, source page_change/0/0, record enriched/0/1: "
            "emitted behind page 'X', event id-0-1, source page_change/0/1, which comes after it",
        )

    @pytest.mark.parametrize(
        ("events", "late"),
        [
            pytest.param([source_event(offset) for offset in range(4)], 3, id="each that comes late counts"),
            pytest.param([source_event(offset, page=offset) for offset in range(3)], 0, id="across pages it is free"),
            pytest.param([source_event(0, partition=1), source_event(5)], 0, id="across partitions it is free"),
        ],
    )
    def test_backwards(self, events: list[SourceEvent], late: int) -> None:
        assert audit(events, *in_turn(*reversed(events))).out_of_order == late

    @pytest.mark.parametrize(("behind_ms", "count"), [(5, 0), (5000, 1)])
    def test_between_outputs_and_errors_goes_by_the_time_of_append(self, behind_ms: int, count: int) -> None:
        """Seconds behind is late; milliseconds behind is a race between two topics, and says nothing."""
        early, late = source_event(0, fate="error", reason="timeout"), source_event(1)
        arrivals = output_of(late, timestamp_ms=10_000), error_of(early, timestamp_ms=10_000 + behind_ms)
        assert audit([early, late], *arrivals).out_of_order == count

    def test_an_event_that_left_both_ways_is_in_order_by_the_first(self) -> None:
        """Output 0, error 1, and a replay that ends 0 in an error too: conflicting, and not late besides."""
        first, second = source_event(0), source_event(1, fate="error", reason="timeout")
        arrivals = (
            output_of(first, timestamp_ms=1000),
            error_of(second, at=0, timestamp_ms=2000),
            error_of(first, at=1, timestamp_ms=9000),
        )
        figures = audit([first, second], *arrivals)
        assert (figures.out_of_order, figures.conflicting) == (0, 1)

    def test_goes_by_first_occurrence(self) -> None:
        """A batch that is replayed as a whole: 0 1 | 0 1 2."""
        events = [source_event(offset) for offset in range(3)]
        arrivals = [output_of(events[offset], at=at) for at, offset in enumerate((0, 1, 0, 1, 2))]
        assert nonzero(audit(events, *arrivals)) == {"inputs": 3, "outputs": 3, "duplicated": 2}


class TestDeferrals:
    def test_what_stands_in_the_topic_is_not_lost(self) -> None:
        figures = audit([EDIT, FAILING], entries=deferred("page_change/0/0000000000"))
        assert nonzero(figures) == {"inputs": 2, "deferred": 1, "lost": 1}

    def test_what_an_entry_stands_for_is_not_lost_until_it_is_resolved(self) -> None:
        entries = deferred()
        entries.take(b"page_change/0/7", b"{}", {"counted": b'{"page_change":{"0":[0,7]}}'})
        assert audit([EDIT], entries=entries).deferred == 1
        entries.take(b"page_change/0/7", None)
        assert audit([EDIT], entries=entries).lost == 1

    def test_what_left_is_deferred_no_longer(self) -> None:
        """The pipeline was killed between the output and the note of it."""
        figures = audit([EDIT], output_of(EDIT), entries=deferred("page_change/0/0"))
        assert nonzero(figures) == {"inputs": 1, "outputs": 1}

    def test_what_is_not_committed_is_still_in_the_source(self) -> None:
        figures = audit([EDIT], committed={}, entries=deferred("page_change/0/0"))
        assert nonzero(figures) == {"inputs": 1, "pending": 1}

    def test_an_entry_of_no_event(self) -> None:
        figures = audit([EDIT], output_of(EDIT), entries=deferred("page_change/0/99", "nonsense"))
        assert nonzero(figures) == {"inputs": 1, "outputs": 1, "unattributed": 2}
        assert figures.examples == (
            "unattributed: source page_change/0/99 in the deferral topic: names no event that was published",
            "unattributed: a key of 8 bytes in the deferral topic: names no event that was published",
        )


def test_when_events_left_first() -> None:
    held = DeliveryAudit([EDIT, FAILING, CANARY], truth=TRUTH, resolve=no_store)
    held.add_output(output_of(EDIT, timestamp_ms=700))
    held.add_output(output_of(EDIT, at=1, timestamp_ms=900))
    held.add_error(error_of(EDIT, timestamp_ms=400))
    held.add_error(error_of(FAILING, at=1, timestamp_ms=500))
    assert held.emitted_ms() == {EDIT.position: 400, FAILING.position: 500}


class TestRouting:
    @pytest.mark.parametrize(
        ("event", "leave", "way"),
        [(CANARY, output_of, "outputs"), (CANARY, error_of, "errors"), (FAILING, output_of, "outputs")],
        ids=["an output of a filtered one", "an error event of a filtered one", "an output of one that has to fail"],
    )
    def test_an_event_that_left_the_wrong_way(
        self, event: SourceEvent, leave: Callable[..., Arrival], way: str
    ) -> None:
        assert nonzero(audit([event], leave(event))) == {"inputs": 1, way: 1, "misrouted": 1}

    def test_an_error_for_what_should_be_an_output_shows_the_error(self) -> None:
        figures = audit([EDIT], error_of(EDIT, error_type="timeout"))
        assert nonzero(figures) == {"inputs": 1, "errors": 1, "misrouted": 1, "timed_out": 1}
        assert figures.examples[0].endswith(": ended as error event (timeout: no); expected an output")

    def test_an_error_of_another_type(self) -> None:
        figures = audit([FAILING], error_of(FAILING, error_type="timeout"))
        assert nonzero(figures) == {"inputs": 1, "errors": 1, "mismatched": 1}
        assert figures.examples[0].endswith("error_type is 'timeout'; expected 'malformed_json'")

    @pytest.mark.parametrize("value", [b"not json", b"[1]", b"{}"])
    def test_an_error_that_is_none(self, value: bytes) -> None:
        assert audit([FAILING], arrival(FAILING, value, topic=ERROR)).mismatched == 1


class TestContent:
    def test_another_body(self) -> None:
        value = enriched(EDIT)
        value["revision"]["content_slots"]["main"]["content_body"] = "<p>other</p>"
        figures = audit([EDIT], arrival(EDIT, value))
        assert nonzero(figures) == {"inputs": 1, "outputs": 1, "mismatched": 1, "mismatched_outputs": 1}
        assert figures.examples == (
            "mismatched: page 'X', event id-0-0, source page_change/0/0, record enriched/0/0: "
            "payload hash differs from the expected one",
        )

    def test_a_wrong_diff(self) -> None:
        diff = {"base_rev_id": 10, "format": "unified", "body": "@@ -1 +1 @@\n-x\n+y\n"}
        figures = audit([EDIT], output_of(EDIT, html_diff=diff))
        assert figures.mismatched == 1
        assert "does not apply" in figures.examples[0]

    def test_a_record_without_a_source(self) -> None:
        figures = audit([EDIT], output_of(EDIT), arrival(None, {}, at=1))
        assert nonzero(figures) == {"inputs": 1, "outputs": 1, "unattributed": 1}
        assert figures.examples == ("unattributed: record enriched/0/1: its headers name no source",)

    def test_a_record_of_a_source_that_was_never_published(self) -> None:
        stranger = source_event(99)
        figures = audit([EDIT], output_of(EDIT), output_of(stranger), error_of(stranger))
        assert nonzero(figures) == {"inputs": 1, "outputs": 1, "unattributed": 2}


class TestClaimChecks:
    PAYLOAD = orjson.dumps(enriched(EDIT))

    def left(self, value: dict[str, Any] | None = None) -> Arrival:
        return arrival(EDIT, value or without_bodies(EDIT), headers=claim_headers(self.PAYLOAD))

    def test_good(self) -> None:
        figures = audit([EDIT], self.left(), resolve=lambda _headers: self.PAYLOAD)
        assert nonzero(figures) == {"inputs": 1, "outputs": 1, "claim_checks": 1}

    def test_is_resolved_by_its_headers_and_repeated_counts_once(self) -> None:
        asked: list[dict[str, bytes]] = []

        def resolve(headers: dict[str, bytes]) -> bytes:
            asked.append(headers)
            return self.PAYLOAD

        figures = audit([EDIT], self.left(), self.left(), resolve=resolve)
        assert asked == [claim_headers(self.PAYLOAD)]
        assert nonzero(figures) == {"inputs": 1, "outputs": 1, "claim_checks": 1, "duplicated": 1}

    @pytest.mark.parametrize("why", ["cannot be read", "has 3 bytes", "has another SHA-256"])
    def test_that_does_not_lead_to_its_payload(self, why: str) -> None:
        def resolve(_headers: dict[str, bytes]) -> bytes:
            raise ClaimError(f"claims/payload {why}")

        figures = audit([EDIT], self.left(), resolve=resolve)
        assert nonzero(figures) == {"inputs": 1, "outputs": 1, "mismatched": 1, "mismatched_outputs": 1}
        assert figures.examples[0].endswith(f"claim check: claims/payload {why}")

    @pytest.mark.parametrize(
        ("record", "payload"),
        [(None, enriched(EDIT, surprise=1)), (enriched(EDIT), enriched(EDIT))],
        ids=["that leads to another payload", "of a record that is itself wrong"],
    )
    def test_that_is_wrong(self, record: dict[str, Any] | None, payload: dict[str, Any]) -> None:
        figures = audit([EDIT], self.left(record), resolve=lambda _headers: orjson.dumps(payload))
        assert nonzero(figures) == {"inputs": 1, "outputs": 1, "mismatched": 1, "mismatched_outputs": 1}


def test_past_counts_events_at_or_after_the_ends() -> None:
    events = [source_event(offset) for offset in range(4)] + [source_event(0, partition=1)]
    held = DeliveryAudit(events, truth=TRUTH, resolve=no_store)
    for event in events[1:]:
        held.add_output(output_of(event))
    held.add_output(output_of(events[3], at=9))
    held.add_error(error_of(events[0]))
    assert held.past({(SOURCE, 0): 2, (SOURCE, 1): 1}) == 2
    assert held.past({(SOURCE, 0): 4, (SOURCE, 1): 1}) == 0
    assert held.past({(SOURCE, 0): 4, (SOURCE, 1): 0}) == 1


def test_without_a_truth_no_output_is_judged() -> None:
    another = error_of(FAILING, at=1, error_type="of another job")
    figures = audit([EDIT, FAILING], arrival(EDIT, b"anything"), another, truth=None)
    assert (figures.unaudited, figures.outputs, figures.errors, figures.mismatched) == (True, 1, 1, 0)
    assert audit([EDIT, FAILING], error_of(EDIT), truth=None).misrouted == 0
    assert not audit([EDIT], output_of(EDIT)).unaudited


def test_asking_twice_gives_the_same_figures() -> None:
    held = DeliveryAudit([EDIT, FAILING], truth=TRUTH, resolve=no_store)
    held.add_output(output_of(EDIT))
    assert held.finish({(SOURCE, 0): 2}) == held.finish({(SOURCE, 0): 2})


def test_problems_are_counted_by_name_in_a_fixed_order() -> None:
    order = ("lost", "conflicting", "out_of_order", "misrouted", "mismatched", "unattributed")
    counts = {name: number for number, name in enumerate(order, 1)}
    assert [*an_audit(**counts).problems().items()] == [*counts.items()]


def test_examples_are_few_and_the_figures_whole() -> None:
    figures = audit([source_event(offset) for offset in range(50)])
    assert (figures.lost, len(figures.examples)) == (50, 5)


fates = st.sampled_from(["output", "error", "filtered"])
steps = st.tuples(st.integers(0, 9), st.sampled_from(["output", "error"]), st.booleans())


@given(st.lists(fates, max_size=8), st.lists(steps, max_size=25), st.integers(0, 9), st.sets(st.integers(0, 9)))
def test_the_six_ends_add_up_to_the_inputs(
    fates: list[Any], steps: list[tuple[int, str, bool]], committed: int, put_aside: set[int]
) -> None:
    """Whatever leaves, in whatever order and however often: each input has exactly one end, each record one account."""
    events = [source_event(n, fate=fate, reason=fate, page=n % 3) for n, fate in enumerate(fates)]
    known = {event.entry.offset: event for event in events}
    arrivals: list[Arrival] = []
    for at, (offset, way, changed) in enumerate(steps):
        event = known.get(offset) or source_event(offset)
        if way == "output":
            arrivals.append(output_of(event, at=at, **({"surprise": at} if changed else {})))
        else:
            arrivals.append(error_of(event, at=at, error_type="other" if changed else None))
    entries = deferred(*(f"page_change/0/{offset}" for offset in put_aside))
    figures = audit(events, *arrivals, committed={(SOURCE, 0): committed}, entries=entries)

    ends = ("outputs", "errors", "filtered", "deferred", "pending", "lost")
    assert sum(getattr(figures, name) for name in ends) == figures.inputs == len(events)
    left = {offset for offset, _, _ in steps if offset in known}
    assert figures.outputs + figures.errors == len(left)
    strangers = sum(offset not in known for offset, _, _ in steps)
    assert figures.unattributed == strangers + len(put_aside - known.keys())
    assert figures.deferred == len({offset for offset in put_aside & known.keys() - left if offset < committed})
    # A record is the first of its event, a repeat, a conflict, or nobody's.
    assert len(left) + figures.duplicated + figures.conflicting + strangers == len(steps)
