"""Compares the records that arrived with the expected ones."""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from devkit.observe.audit.arrivals import Arrival, Position
from devkit.observe.audit.claim_check import CLAIM_HEADERS, KEY_HEADER, ClaimError, ClaimSuppressedError, may_suppress
from devkit.observe.audit.event_records import Ending, EventRecords
from devkit.observe.audit.examples import Examples, error_text
from devkit.observe.audit.model import Audit
from devkit.observe.audit.numbered_landings import NumberedLandings
from devkit.observe.audit.order import Landing, LateEvent, late_events
from devkit.observe.audit.output_parts import OutputParts
from devkit.observe.audit.record_checks import (
    PagePlaces,
    RecordIds,
    schema_violation,
    wrong_error_key,
    wrong_event_id,
    wrong_key,
    wrong_lapsed_source,
)
from devkit.observe.audit.replays import NO_REPLAYS, Excused, Replays
from devkit.observe.audit.source_event import RepeatedEvents, SourceEvent, place
from devkit.observe.checkpoint import Offsets, SourcePartition
from devkit.observe.expected_output.truth import (
    FatesTogether,
    JobTruth,
    NumberedOutputs,
    SourcesOfOutput,
    SplitOutputs,
)
from devkit.observe.kafka.deferrals import DeferredEntries
from devkit.observe.kafka.error_events import ErrorTally, error_type
from devkit.observe.logs.timeouts import reports_timeout
from devkit.traffic.records import Expected, Fate
from located_config.count import counted

_FATES: Mapping[Fate, str] = {
    "output": "an output",
    "error": "an error event",
    "filtered": "no record, as it is filtered",
}

_CONTRADICTIONS: Mapping[Ending, str] = {
    "output": "emitted as error event after its output",
    "error": "emitted as output after its error event",
    "lapsed": "emitted after its lapsed_action event",
}
_COUNTED_AS: Mapping[Ending, str] = {"output": "outputs", "error": "errors", "lapsed": "lapsed"}


class DeliveryAudit:
    """Without a `truth` the outputs that events must have are not known: records are counted, and not judged.

    `resolve` turns the headers of a claim check into its payload, and raises ClaimError. `grown` are topics that got
    more partitions while they were written.
    """

    def __init__(
        self,
        events: Iterable[SourceEvent],
        *,
        truth: JobTruth | None,
        resolve: Callable[[dict[str, bytes]], bytes],
        grown: Collection[str] = (),
    ) -> None:
        self._together = _fates_together(truth)
        if self._together is not None:
            events = self._together.fates([*events])
        self._events = {event.position: event for event in events}
        self._truth = truth
        self._split = _split_outputs(truth)
        self._numbered = _numbered_landings(truth)
        self._resolve = resolve
        self._emitted: dict[Position, EventRecords] = {}
        # A record without a value is no output, and behind one it is another record of its event.
        self._valueless: dict[Position, Landing] = {}
        # Of those, the events that are a part of a record which names another one.
        self._parts: set[Position] = set()
        self._parts_of_outputs = OutputParts()
        self._counts: Counter[str] = Counter()
        self._examples = Examples()
        self.error_events = ErrorTally()
        self._ids, self._error_ids, self._places = RecordIds("output"), RecordIds("error event"), PagePlaces(grown)
        self._repeated = RepeatedEvents(self._events.values())

    def add_output(self, arrival: Arrival) -> None:
        """Takes a partition's records in order. The first record of an event is verified, later ones are compared with
        it. A record that is made of several events is a record of each; the records that an output takes are one.
        """
        if self._split is not None:
            whole = self._join_parts(self._split, arrival)
            if whole is None:
                return
            arrival = whole
        sources = self._truth.sources(arrival.value) if isinstance(self._truth, SourcesOfOutput) else None
        for source in sources or (arrival.source,):
            part = replace(arrival, source=source)
            event, records = self._attribute(part)
            if event is None or records is None:
                continue
            if self._takes_first(part, records, "output"):
                if self._numbered is not None:
                    self._numbered.add(part, event.position)
                if source != arrival.source:
                    self._parts.add(event.position)
                # Its id is that of the event which its headers name.
                self._verify_output(part, event, has_id=source == arrival.source)

    def _join_parts(self, truth: SplitOutputs, arrival: Arrival) -> Arrival | None:
        """The output that a record completes; None where it completes none."""
        part = truth.part(arrival.value)
        if part is None:
            return arrival  # which the comparison with the expected output reports
        if KEY_HEADER in arrival.headers:
            arrival = self._with_payload(arrival)
        whole, prefix = self._parts_of_outputs.add(arrival, *part)
        if prefix is not None:
            _, records = self._attribute(prefix)
            if records is not None:
                self._counts["duplicated"] += 1
                records.add_prefix(Landing.of(prefix))
        return whole

    def _with_payload(self, arrival: Arrival) -> Arrival:
        """The part with what its claim check stands for."""
        try:
            payload = self._resolve(arrival.headers)
        except ClaimError as error:
            self._counts["mismatched_outputs"] += 1
            self._count("mismatched", arrival, f"claim check: {error}")
            return arrival
        self._counts["claim_checks"] += 1
        own = {name: value for name, value in arrival.headers.items() if not name.startswith(CLAIM_HEADERS)}
        return replace(arrival, value=payload, headers=own)

    def add_error(self, arrival: Arrival) -> None:
        """As `add_output`, for records of the error topics. Any topic may come first."""
        self.error_events.add(arrival)
        event, records = self._attribute(arrival)
        if event is None or records is None:
            return
        records.timed_out |= event.entry.expected.fate != "error" and reports_timeout(error_text(arrival))
        if self._takes_first(arrival, records, "error"):
            records.error_text, records.error_type = error_text(arrival), error_type(arrival.value)
            self._verify_error(arrival, event)

    def add_lapsed(self, arrival: Arrival) -> None:
        """As `add_output`, for records of the topic of lapsed_action events."""
        event, records = self._attribute(arrival)
        if event is not None and records is not None and self._takes_first(arrival, records, "lapsed"):
            self._verify_lapsed(arrival, event)

    def past(self, ends: Offsets) -> int:
        """Events that were emitted although they lie at or past these offsets of their partitions."""
        return sum(1 for topic, partition, offset in self._emitted if offset >= ends.get((topic, partition), 0))

    def dropped(self, committed: Offsets, deferrals: DeferredEntries | None = None) -> frozenset[Position]:
        """Events that were committed and not emitted, rightly: another one of the same `meta.id` was, or still waits in
        the deferral topic.
        """
        waiting = deferrals.held if deferrals is not None else ()
        ids = self._repeated.count({*self._ended_normally(), *waiting})
        return frozenset(
            position
            for position in self._repeated.with_ids(ids)
            if position not in self._emitted
            and position not in waiting
            and position[-1] < committed.get(position[:2], 0)
        )

    def _ended_normally(self) -> list[Position]:
        return [position for position, records in self._emitted.items() if records.ended in ("output", "error")]

    def emitted_ms(self) -> dict[Position, int]:
        """When each event that was emitted was so first, in milliseconds since the epoch."""
        return {
            position: records.first.timestamp_ms
            for position, records in self._emitted.items()
            if records.first is not None
        }

    def finish(
        self,
        committed: Offsets,
        deferrals: DeferredEntries | None = None,
        replays: Replays = NO_REPLAYS,
        report_problem: Callable[[str, SourceEvent], None] = lambda _problem, _event: None,
        *,
        names_missing: bool = False,
    ) -> Audit:
        """The figures, by the offsets up to which the pipeline has committed, its deferred events and its replays.

        With a truth `report_problem` gets each problem of each event. With `names_missing` it also gets each pending
        event that had to be emitted: nothing else names them.
        """
        deferrals = DeferredEntries() if deferrals is None else deferrals  # one with nothing deferred now is empty
        by_state = self._together is not None or isinstance(self._truth, SourcesOfOutput)
        replays = replace(replays, by_state=by_state)
        counts, examples = self._counts.copy(), self._examples.copy()
        for late in self._late():
            counts["out_of_order"] += 1
            behind = f"emitted behind {self._events[late.overtaken_by].name}, which comes after it"
            examples.add("out_of_order", _which(self._events[late.position], late.landing), behind, late.position)
        strangers = [f"source {place(position)}" for position in sorted(deferrals.ever - self._events.keys())]
        strangers += [f"a key of {counted(len(key), 'byte')}" for key in deferrals.unreadable]
        counts["unattributed"] += len(strangers)
        for stranger in strangers:
            examples.add("unattributed", f"{stranger} in the deferral topic", "names no event that was published")
        dropped, held = self.dropped(committed, deferrals), deferrals.held
        emitted_ids = self._repeated.count(self._ended_normally())
        repeats = self._repeated.with_ids(emitted_ids)
        counts["repeats_emitted"] += sum(number - 1 for number in emitted_ids.values())
        for position, event in self._events.items():
            records = self._emitted.get(position)
            is_committed = event.entry.offset < committed.get(event.partition, 0)
            if records is not None:
                excused = replays.excused(
                    event.partition,
                    event.entry.offset,
                    takeovers=deferrals.takeovers(position),
                    emitted_ms=records.first.timestamp_ms if records.first else None,
                )
                _count_records(counts, examples, event, records, excused)
                if self._truth is not None:
                    _count_misrouted(counts, examples, event, records)
            elif not is_committed:
                counts["pending"] += 1
                if names_missing and event.entry.expected.fate != "filtered" and position not in repeats:
                    counts["not_emitted"] += 1
                    wrong = f"expected {_FATES[event.entry.expected.fate]}, and the arm ended without"
                    examples.add("not_emitted", event.name, wrong, position)
            elif position in held:
                counts["deferred"] += 1
            elif event.entry.expected.fate == "filtered":
                counts["filtered"] += 1
            elif position in dropped:
                counts["deduplicated"] += 1
            else:
                counts["lost"] += 1
                empty = self._valueless.get(position)
                how = "emitted without a value" if empty else "committed, and never emitted"
                wrong = f"{how}; expected {_FATES[event.entry.expected.fate]}"
                examples.add("lost", _which(event, empty) if empty else event.name, wrong, position)
        for problem, position in examples.events() if self._truth is not None else ():
            report_problem(problem, self._events[position])
        return Audit(
            inputs=len(self._events),
            examples=examples.all(),
            unaudited=self._truth is None,
            **{name: counts[name] for name in Audit.model_fields if name not in ("inputs", "examples", "unaudited")},
        )

    def _attribute(self, arrival: Arrival) -> tuple[SourceEvent | None, EventRecords | None]:
        event = self._events.get(arrival.source) if arrival.source else None
        if event is None:
            source = f"source {place(arrival.source)}, which was never published" if arrival.source else "no source"
            self._count("unattributed", arrival, f"its headers name {source}")
            return None, None
        if not arrival.value and KEY_HEADER not in arrival.headers and event.position not in self._emitted:
            self._valueless[event.position] = Landing.of(arrival)
            return None, None
        return event, self._emitted.setdefault(event.position, EventRecords())

    def _late(self) -> Iterator[LateEvent]:
        """Order counts first occurrences only, for each source partition and page. A record that is made of several
        events has the place of the one that it names: what lies between them leaves before it or behind it. Outputs
        that are numbered have the order of their numbers instead.
        """
        if self._numbered is not None:
            yield from self._numbered.late()
            return
        pages: dict[tuple[SourcePartition, bytes], dict[Position, Landing]] = {}
        for position, records in self._emitted.items():
            if records.first is not None and position not in self._parts:
                event = self._events[position]
                pages.setdefault((event.partition, event.key), {})[position] = records.first
        for first in pages.values():
            yield from late_events(first)

    def _takes_first(self, arrival: Arrival, records: EventRecords, ending: Ending) -> bool:
        """Take the record: true where it is the first of its event in that topic; what else it may be is counted."""
        record_class = records.add(ending, Landing.of(arrival), _digest(arrival))
        if record_class == "repeat":
            self._counts["duplicated"] += 1
            self._verify_repeat(arrival, records, ending)
        elif record_class == "differing":
            self._count("conflicting", arrival, "emitted again with other content")
        return record_class == "first"

    def _verify_repeat(self, arrival: Arrival, records: EventRecords, ending: Ending) -> None:
        """That an event was read again excuses its repeat, and not that the repeat lies where a consumer may meet it
        before what came first. One without a key may lie anywhere.
        """
        first = records.firsts[ending].partition
        is_free = self._places.are_free(arrival) or arrival.source in self._parts
        if self._truth is None or is_free or arrival.partition == first:
            return
        self._counts["mismatched_outputs"] += ending == "output"
        wrong = f"its event has a record in partition {first} too, so a consumer meets them in any order"
        self._count("mismatched", arrival, wrong)

    def _verify_output(self, arrival: Arrival, event: SourceEvent, *, has_id: bool) -> None:
        if self._truth is None:
            return
        if event.entry.expected.fate != "output":
            return
        expected = self._truth.output(event)
        if KEY_HEADER not in arrival.headers:
            wrong = expected.difference(arrival.value, body_removed=False) or self._schema_violation(arrival.value)
        else:
            wrong = expected.difference(arrival.value, body_removed=True) or schema_violation(arrival.value)
            try:
                payload = self._resolve(arrival.headers)
                wrong = wrong or expected.difference(payload, body_removed=False) or schema_violation(payload)
                self._counts["claim_checks"] += not wrong
            except ClaimSuppressedError as error:
                if not may_suppress(self._events.values(), error.by, event):
                    wrong = f"claim check: {error}, which is no later event that deletes or hides it"
            except ClaimError as error:
                wrong = f"claim check: {error}"
        wrong = wrong or wrong_key(arrival, self._truth.key(event))
        if has_id:
            wrong = wrong or wrong_event_id(arrival, event) or self._ids.wrong(arrival.value, event)
        wrong = wrong or self._places.wrong(arrival)
        if wrong:
            self._counts["mismatched_outputs"] += 1
            self._count("mismatched", arrival, wrong)

    def _schema_violation(self, value: bytes) -> str | None:
        values = value.split(b"\n") if self._split is not None else [value]
        return next(filter(None, map(schema_violation, values)), None)

    def _verify_error(self, arrival: Arrival, event: SourceEvent) -> None:
        if self._truth is None:
            return
        expected, actual_type = event.entry.expected, error_type(arrival.value)
        if expected.fate == "error" and actual_type != expected.reason and not _may_end_in(expected, actual_type):
            self._count("mismatched", arrival, f"error_type is {actual_type!r}; expected {expected.reason!r}")
            return
        wrong = wrong_error_key(arrival, self._error_key(event)) or wrong_event_id(arrival, event)
        wrong = wrong or schema_violation(arrival.value)
        wrong = wrong or self._error_ids.wrong(arrival.value, event) or self._places.wrong(arrival)
        if wrong:
            self._count("mismatched", arrival, wrong)

    def _verify_lapsed(self, arrival: Arrival, event: SourceEvent) -> None:
        if self._truth is None:
            return
        wrong = wrong_error_key(arrival, self._error_key(event)) or wrong_event_id(arrival, event)
        wrong = wrong or schema_violation(arrival.value)
        if wrong := wrong or wrong_lapsed_source(arrival.value, event):
            self._count("mismatched", arrival, wrong)

    def _error_key(self, event: SourceEvent) -> bytes:
        return event.key if self._together is None else self._together.key(event)

    def _count(self, what: str, arrival: Arrival, wrong: str) -> None:
        self._counts[what] += 1
        event = self._events.get(arrival.source) if arrival.source else None
        self._examples.add(what, _which(event, Landing.of(arrival)), wrong, event.position if event else None)


def _split_outputs(truth: object) -> SplitOutputs | None:
    return truth if isinstance(truth, SplitOutputs) else None


def _fates_together(truth: object) -> FatesTogether | None:
    return truth if isinstance(truth, FatesTogether) else None


def _numbered_landings(truth: object) -> NumberedLandings | None:
    return NumberedLandings(truth) if isinstance(truth, NumberedOutputs) else None


def _may_end_in(expected: Expected, error: str | None) -> bool:
    return error is not None and error == expected.may_end_in


def _count_records(
    counts: Counter[str], examples: Examples, event: SourceEvent, records: EventRecords, excused: Excused
) -> None:
    """How the event ended, and what of its records after the first is no problem. A retried task is the cause of what
    restarts do not account for.
    """
    most = excused.most
    assert records.ended is not None, "an event that was emitted has a record"
    counts[_COUNTED_AS[records.ended]] += 1
    may_lapse = event.entry.expected.may_lapse
    counts["excused_lapses"] += records.ended == "lapsed" and may_lapse
    if records.ended == "lapsed" and records.first is not None and not may_lapse:
        wrong = f"lapsed; expected {_FATES[event.entry.expected.fate]}"
        examples.add("lapsed", _which(event, records.first), wrong, event.position)
    counts["timed_out"] += records.timed_out
    counts["timed_out_conflicts"] += records.timed_out_conflicts(most)
    repeats = records.excused_repeats(excused.repeats)
    counts["excused"] += repeats
    if records.repeats > repeats and records.repeated is not None:
        wrong = f"emitted {counted(records.repeats + 1, 'time')}, byte for byte the same"
        wrong += f"; what was read again accounts for {counted(repeats, 'repeat')}" if repeats else ""
        examples.add("duplicated", _which(event, records.repeated), wrong, event.position)
    counts["excused_by_retry"] += repeats - records.excused_repeats(excused.repeats_by_restart)
    if records.contradiction is None:
        return
    counts["conflicting"] += 1
    if records.excuses_contradiction(most):
        counts["excused_conflicts"] += 1
        counts["excused_conflicts_by_retry"] += not records.excuses_contradiction(excused.by_restart)
    else:
        contradiction = _CONTRADICTIONS[records.ended]
        examples.add("conflicting", _which(event, records.contradiction), contradiction, event.position)


def _count_misrouted(counts: Counter[str], examples: Examples, event: SourceEvent, records: EventRecords) -> None:
    """Whether the event ended as it had to, by its first record."""
    first, fate = records.first, event.entry.expected.fate
    if first is None or records.ended in (fate, "lapsed"):
        return  # what lapsed is counted as that
    if records.ended == "error" and _may_end_in(event.entry.expected, records.error_type):
        return
    how = "ended as output" if records.ended == "output" else f"ended as error event ({records.error_text})"
    counts["misrouted"] += 1
    examples.add("misrouted", _which(event, first), f"{how}; expected {_FATES[fate]}", event.position)


def _which(event: SourceEvent | None, landing: Landing) -> str:
    record = f"record {place((landing.topic, landing.partition, landing.offset))}"
    return f"{event.name}, {record}" if event else record


def _digest(arrival: Arrival) -> str:
    digest = hashlib.sha256(arrival.value)
    digest.update(b"\0" if arrival.key is None else b"\1" + arrival.key + b"\0")
    for name, value in sorted(arrival.headers.items()):
        digest.update(name.encode() + b"\0" + value + b"\0")
    return digest.hexdigest()
