"""Holds what arrived against what was expected."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import orjson

from devkit.observe.audit.arrivals import Arrival, Position
from devkit.observe.audit.claims import KEY_HEADER, ClaimError
from devkit.observe.audit.examples import Examples, error_text
from devkit.observe.audit.expected import ExpectedOutput, Truth
from devkit.observe.audit.model import Audit
from devkit.observe.audit.order import Landing, Late, earlier, late_events
from devkit.observe.audit.source_event import SourceEvent, place
from devkit.observe.deferrals import Standing
from devkit.traffic.records import Fate
from located_config.count import counted

_FATES: Mapping[Fate, str] = {
    "output": "an output",
    "error": "an error event",
    "filtered": "no record, as it is filtered",
}


@dataclass
class _Departure:
    """How an event left: where the first record of each kind landed, and the hashes of all."""

    output: Landing | None = None
    error: Landing | None = None
    outputs: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def first(self) -> Landing | None:
        return earlier(self.output, self.error)


class DeliveryAudit:
    """`resolve` turns the headers of a claim check into its payload, and raises ClaimError."""

    def __init__(
        self,
        events: Iterable[SourceEvent],
        *,
        stream: str,
        truth: Truth,
        resolve: Callable[[dict[str, bytes]], bytes],
    ) -> None:
        self._events = {event.position: event for event in events}
        self._stream = stream
        self._truth = truth
        self._resolve = resolve
        self._departures: dict[Position, _Departure] = {}
        self._counts: Counter[str] = Counter()
        self._examples = Examples()

    def add_output(self, arrival: Arrival) -> None:
        event, departure = self._attribute(arrival)
        if event is None or departure is None:
            return
        digest = _digest(arrival)
        if departure.outputs:
            self._repeat(arrival, departure.outputs[0] == digest)
        else:
            departure.output = Landing.of(arrival)
            self._verify_output(arrival, event)
            if departure.errors:
                self._count("conflicting", arrival, "left as output and as error event")
        departure.outputs.append(digest)

    def add_error(self, arrival: Arrival) -> None:
        event, departure = self._attribute(arrival)
        if event is None or departure is None:
            return
        digest = _digest(arrival)
        if departure.errors:
            self._repeat(arrival, departure.errors[0] == digest)
        else:
            departure.error = Landing.of(arrival)
            self._verify_error(arrival, event)
            if departure.outputs:
                self._count("conflicting", arrival, "left as output and as error event")
        departure.errors.append(digest)

    def past(self, ends: Mapping[int, int]) -> int:
        """Events that left although they lie at or past these offsets of their partitions."""
        return sum(1 for _, partition, offset in self._departures if offset >= ends.get(partition, 0))

    def left_ms(self) -> dict[Position, int]:
        """When each event that left did so first, in milliseconds since the epoch."""
        return {
            position: departure.first.timestamp_ms
            for position, departure in self._departures.items()
            if departure.first is not None
        }

    def finish(self, committed: Mapping[int, int], deferrals: Standing | None = None) -> Audit:
        """The figures, given the offsets up to which the pipeline has committed and its deferred events."""
        deferrals = deferrals or Standing()
        counts, examples = self._counts.copy(), self._examples.copy()
        for late in self._late():
            counts["out_of_order"] += 1
            behind = f"left behind {self._events[late.overtaken_by].name}, which comes after it"
            examples.add("out_of_order", _which(self._events[late.position], late.landing), behind)
        strangers = [f"source {place(position)}" for position in sorted(deferrals.ever - self._events.keys())]
        strangers += [f"a key of {counted(len(key), 'byte')}" for key in deferrals.unreadable]
        counts["unattributed"] += len(strangers)
        for stranger in strangers:
            examples.add("unattributed", f"{stranger} in the deferral topic", "names no event that was published")
        for position, event in self._events.items():
            departure = self._departures.get(position)
            is_committed = event.entry.offset < committed.get(event.entry.partition, 0)
            if departure is not None:
                counts["outputs" if departure.outputs else "errors"] += 1
            elif not is_committed:
                counts["pending"] += 1
            elif position in deferrals.now:
                counts["deferred"] += 1
            elif event.entry.expected.fate == "filtered":
                counts["filtered"] += 1
            else:
                counts["lost"] += 1
                examples.add(
                    "lost", event.name, f"committed, and never left; expected {_FATES[event.entry.expected.fate]}"
                )
        return Audit(
            inputs=len(self._events),
            examples=examples.all(),
            **{name: counts[name] for name in Audit.model_fields if name not in ("inputs", "examples")},
        )

    def _attribute(self, arrival: Arrival) -> tuple[SourceEvent | None, _Departure | None]:
        event = self._events.get(arrival.source) if arrival.source else None
        if event is None:
            source = f"source {place(arrival.source)}, which was never published" if arrival.source else "no source"
            self._count("unattributed", arrival, f"its headers name {source}")
            return None, None
        return event, self._departures.setdefault(event.position, _Departure())

    def _late(self) -> Iterator[Late]:
        """Order counts first occurrences only, for each source partition and page."""
        pages: dict[tuple[int, bytes], dict[Position, Landing]] = {}
        for position, departure in self._departures.items():
            if departure.first is not None:
                event = self._events[position]
                pages.setdefault((event.entry.partition, event.key), {})[position] = departure.first
        for first in pages.values():
            yield from late_events(first)

    def _repeat(self, arrival: Arrival, identical: bool) -> None:
        if identical:
            self._counts["duplicated"] += 1
        else:
            self._count("conflicting", arrival, "left again with other content")

    def _verify_output(self, arrival: Arrival, event: SourceEvent) -> None:
        if event.entry.expected.fate != "output":
            self._count("misrouted", arrival, f"left as output; expected {_FATES[event.entry.expected.fate]}")
            return
        expected = ExpectedOutput(event.value, event.entry.expected, stream=self._stream, truth=self._truth)
        if KEY_HEADER not in arrival.headers:
            wrong = expected.difference(arrival.value, body_removed=False)
        else:
            wrong = expected.difference(arrival.value, body_removed=True)
            try:
                wrong = wrong or expected.difference(self._resolve(arrival.headers), body_removed=False)
            except ClaimError as error:
                wrong = f"claim check: {error}"
            self._counts["claim_checks"] += not wrong
        if wrong:
            self._count("mismatched", arrival, wrong)

    def _verify_error(self, arrival: Arrival, event: SourceEvent) -> None:
        expected = event.entry.expected
        if expected.fate != "error":
            left = f"left as error event ({error_text(arrival)})"
            self._count("misrouted", arrival, f"{left}; expected {_FATES[expected.fate]}")
            return
        try:
            error_type = orjson.loads(arrival.value).get("error_type")
        except (orjson.JSONDecodeError, AttributeError):
            error_type = None
        if error_type != expected.reason:
            self._count("mismatched", arrival, f"error_type is {error_type!r}; expected {expected.reason!r}")

    def _count(self, what: str, arrival: Arrival, wrong: str) -> None:
        self._counts[what] += 1
        event = self._events.get(arrival.source) if arrival.source else None
        self._examples.add(what, _which(event, Landing.of(arrival)), wrong)


def _which(event: SourceEvent | None, landing: Landing) -> str:
    record = f"record {place((landing.topic, landing.partition, landing.offset))}"
    return f"{event.name}, {record}" if event else record


def _digest(arrival: Arrival) -> str:
    digest = hashlib.sha256(arrival.value)
    for name, value in sorted(arrival.headers.items()):
        digest.update(name.encode() + b"\0" + value + b"\0")
    return digest.hexdigest()
