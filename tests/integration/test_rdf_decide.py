"""rdf-decide on real parts: what leaves is what the updater's own modules make of the events, also after crashes.

Set-up: lives of entities (edits, deletions, undeletions, events that fit nothing) whose events lie in the topic of
their kind, each up to 40 s of event time behind its turn; a reconciliation, events of another wiki, and some that
cannot be read. Canaries end it, and one event comes an hour late. The process is killed when a batch is planned, when
its state is written and none of its operations, and when these are written and the batch is not committed. Operations
are never written before the state of their batch: a shuffle is between the two.

Checked: operations and side outputs are those of a single call of `accept` and `release`, byte for byte, in order by
entity; what was written twice is the same twice; headers name the events; no row came too late for the operator; and
the commands on state and checkpoint know the job.
"""

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from kafka import KafkaProducer

from devkit.observe.audit.arrivals import Arrival, read_topic
from pipeline.jobs.message import SourceMessage
from pipeline.jobs.rdf_decide import entity_pages
from pipeline.rdf.operation import Operation
from pipeline.records.record import Position
from pipeline.schemas import (
    PAGE_DELETE_URI,
    PAGE_UNDELETE_URI,
    RDF_RECONCILE_URI,
    REVISION_CREATE_URI,
    error_validator,
    validator_of,
)
from pipeline.updater.reorder import EntityState, Outcome, ReorderRules, accept, release
from pipeline.updater.side_output import LapsedAction, side_record
from pipeline.updater.source_event import SourceEvent, parse_source_event
from tests.integration.crash.bench import Bench
from tests.integration.crash.point import CrashPoint

ROOMS = ("pipeline/jobs", "pipeline/state", "pipeline/updater")
MakeBench = Callable[..., Bench]

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WINDOW = timedelta(seconds=60)
DOMAIN = "www.wikidata.org"
KINDS = {
    "revision-create": (REVISION_CREATE_URI, "revision-create"),
    "page-delete": (PAGE_DELETE_URI, "page-delete"),
    "page-suppress": (PAGE_DELETE_URI, "page-suppress"),
    "page-undelete": (PAGE_UNDELETE_URI, "page-undelete"),
    "reconcile": (RDF_RECONCILE_URI, "reconcile"),
}
TRAFFIC: dict[str, Any] = {"generator": "page_change", "seed": 5, "rate": "1/s", "for": "1s", "population": 1}
LOOK = "pipeline.driver.version_check:VersionCheck.require_readable"
NOTHING_WRITTEN = CrashPoint(target=LOOK, moment="before", within="_write", call=4)
STATE_WRITTEN = CrashPoint(target=LOOK, moment="after", within="_write")
NOT_COMMITTED = CrashPoint(target="pipeline.driver.batch:write", moment="after", within="_emit", call=2)
CRASHES = (NOTHING_WRITTEN, STATE_WRITTEN, NOT_COMMITTED)


@dataclass(frozen=True)
class Published:
    """A record of the source, at this second of event time. It arrives `delay_s` behind its turn."""

    kind: str
    at_s: float
    value: bytes
    delay_s: float = 0


def document(kind: str, entity: str, rev: int, at_s: float, **fields: Any) -> bytes:
    uri, stream = KINDS[kind]
    dt = (START + timedelta(seconds=at_s)).isoformat()
    event_id = f"{rev:08d}-0000-4000-8000-{round(at_s * 1000):012d}"
    event: dict[str, Any] = {"$schema": uri, "meta": {"domain": DOMAIN, "dt": dt, "id": event_id, "stream": stream}}
    if kind == "reconcile":
        action = {"reconciliation_action": "CREATION", "reconciliation_source": "report"}
        return orjson.dumps(event | {"item": entity, "revision_id": rev} | action)
    page = {"database": "wikidatawiki", "page_id": 1, "page_is_redirect": False, "page_namespace": 0}
    event |= page | {"page_title": entity, "rev_id": rev}
    if kind == "revision-create":
        slot = {"rev_slot_content_model": "wikibase-item", "rev_slot_sha1": "a", "rev_slot_size": 3}
        event |= {"dt": dt, "rev_timestamp": dt, "rev_slots": {"main": slot}}
    return orjson.dumps(event | fields)


def life(entity: str, random_: random.Random) -> list[Published]:
    """Edits, a deletion and an undeletion among them, and an undeletion that fits nothing."""
    events: list[Published] = []
    rev, at_s = 100, random_.uniform(0, 20)
    kinds = [
        *["revision-create"] * 3,
        random_.choice(["page-delete", "page-suppress"]),
        "page-undelete",
        *["revision-create"] * 4,
        "page-undelete",
    ]
    for kind in kinds:
        parent = {"rev_parent_id": rev} if kind == "revision-create" and rev > 100 else {}
        rev += kind == "revision-create"
        at_s += random_.uniform(1, 25)
        events.append(Published(kind, at_s, document(kind, entity, rev, at_s, **parent), random_.uniform(0, 40)))
    return events


def published_events() -> list[Published]:
    """As each of them arrives."""
    random_ = random.Random(11)
    events = [event for number in range(1, 7) for event in life(f"Q{number}", random_)]
    foreign = orjson.dumps(orjson.loads(document("page-delete", "Q1", 1, 50)) | {"meta": {"domain": "other.org"}})
    events += [
        Published("reconcile", 400, document("reconcile", "Q900", 5, 400)),
        Published("page-delete", 50, foreign),
        Published("page-delete", 70, b"{no json", 5),
        Published("revision-create", 90, document("revision-create", "Q3", 7, 90, rev_id="seven")),
    ]
    events.sort(key=lambda event: event.at_s + event.delay_s)
    canary = orjson.dumps({"$schema": REVISION_CREATE_URI, "meta": {"domain": "canary"}})
    closing_ = [Published(kind, 4000, canary) for kind in KINDS]
    late = Published("revision-create", 300, document("revision-create", "Q2", 999, 300))
    return [*events, *closing_, late]


def publish(bench: Bench, events: Iterable[Published]) -> list[SourceMessage]:
    """The messages as they lie in the topics, one partition each."""
    topics = {kind: next(name for name in bench.config.source.all_topics if name.endswith(kind)) for kind in KINDS}
    messages = []
    with closing(KafkaProducer(bootstrap_servers=bench.bootstrap)) as producer:
        for event in events:
            at = START + timedelta(seconds=event.at_s)
            timestamp_ms = round(at.timestamp() * 1000)
            sent = producer.send(topics[event.kind], event.value, partition=0, timestamp_ms=timestamp_ms).get(30)
            position = Position(sent.topic, sent.partition, sent.offset)
            appended = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
            messages.append(SourceMessage(position, None, event.value, appended))
    return messages


def decided(bench: Bench, messages: Sequence[SourceMessage]) -> list[Outcome]:
    """All that comes of the messages, by entity, the last of which is late: by the updater's own modules."""
    pages = entity_pages(bench.config)
    rules = ReorderRules(round(WINDOW.total_seconds() * 1000), continue_at_once=False)
    *in_time, late = [message for message in messages if b"no json" not in (message.value or b"")]
    by_entity: dict[str, list[SourceEvent]] = defaultdict(list)
    for message in in_time:
        if b'"seven"' in (message.value or b""):
            continue
        event = parse_source_event(message, pages)
        if event is not None:
            by_entity[event.entity].append(event)
    outcomes: list[Outcome] = []
    for events in by_entity.values():
        accepted = accept(EntityState(), events, 0, rules)
        outcomes += (*accepted.outcomes, *release(accepted.state, 10**14, rules).outcomes)
    late_event = parse_source_event(late, pages)
    assert late_event is not None
    return [*outcomes, LapsedAction(late_event)]


def operations(outcomes: Iterable[Outcome]) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = defaultdict(list)
    for outcome in outcomes:
        if isinstance(outcome, Operation):
            found[outcome.key].append(outcome.value())
    return found


def first_of_each(arrivals: Iterable[Arrival]) -> dict[bytes, list[bytes]]:
    """The values by key in the order in which each came first."""
    found: dict[bytes, dict[bytes, None]] = defaultdict(dict)
    for arrival in arrivals:
        assert arrival.key is not None
        found[arrival.key][arrival.value] = None
    return {key: list(values) for key, values in found.items()}


def make(make_bench: MakeBench, name: str, **updater: Any) -> Bench:
    topics = [f"{name}.{kind}" for kind in KINDS]
    settings: dict[str, Any] = {
        "job": "rdf-decide",
        "source": {"topics": topics, "slice": "30s", "idle_after": "0s"},
        "sink": {"lapsed_topic": f"{name}.lapsed", "inconsistency_topic": f"{name}.inconsistency"},
        "updater": {"reorder": "60s", **updater},
        "state": {"partitions": 2},
        # Enough for a look at the events' versions, which runs the operator before anything is written.
        "batch": {"max_offsets": 100},
    }
    return make_bench(traffic=TRAFFIC, rules=[], settings=settings)


def headers_of(position: Position, event_id: str | None) -> dict[str, bytes]:
    named = {} if event_id is None else {"source-event-id": event_id.encode()}
    return {**dict(position.headers()), **named}


def side_outputs(bench: Bench, outcomes: Iterable[Outcome]) -> dict[str, set[tuple[bytes | None, bytes]]]:
    found: dict[str, set[tuple[bytes | None, bytes]]] = defaultdict(set)
    sink = bench.config.sink
    for outcome in outcomes:
        if not isinstance(outcome, Operation):
            is_late = isinstance(outcome, LapsedAction)
            topic = sink.effective_lapsed_topic if is_late else sink.inconsistency_topic
            assert topic is not None
            record = side_record(outcome, topic=topic, emitter="rdf-decide")
            found[topic].add((record.key, record.value))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("crashes", [(), CRASHES], ids=["without a crash", "killed"])
def test_operations_are_those_of_the_modules(make_bench: MakeBench, crashes: tuple[CrashPoint, ...]) -> None:
    bench = make(make_bench, f"decide{len(crashes)}", continue_at_once=False)
    messages = publish(bench, published_events())
    outcomes = decided(bench, messages)
    expected = operations(outcomes)
    sides = side_outputs(bench, outcomes)
    assert sum(map(len, expected.values())) > 40
    assert len(sides) == 2
    for crash in crashes:
        run = bench.start(crash=crash)
        assert run.await_end() != 0
        assert run.logged("crashing", target=crash.target, moment=crash.moment), run.process.last_words(20)
    written_before = len(bench.outputs())
    run = bench.start()

    def is_complete() -> bool:
        # All may have been written before the process was killed last: then this one writes the last batch again.
        return (
            bool(run.logged("state_committed"))
            and first_of_each(bench.outputs()) == expected
            and all(
                {(arrival.key, arrival.value) for arrival in read_topic(bench.bootstrap, topic)} == values
                for topic, values in sides.items()
            )
        )

    run.await_condition(is_complete, "operations and side outputs to be those of the modules")
    assert run.terminate() == 0, run.process.last_words(20)
    assert_records(bench, messages, outcomes)
    values = [arrival.value for arrival in bench.outputs()]
    assert (len(values) > len(set(values))) == bool(crashes), "the batch that was not committed left again"
    assert (written_before > 0) == bool(crashes)
    assert all(line["late_dropped"] == 0 for line in run.logged("state_committed"))
    if not crashes:
        bounds = {(line["slice_s"] >= 30, line["ended_by"]) for line in run.logged("batch_started")}
        assert bounds <= {(True, ended_by) for ended_by in ("slice", "partition", "max_offsets", "end")}
    assert_commands(bench, run.process.stdout, entities=len(expected))


def assert_commands(bench: Bench, log: Path, *, entities: int) -> None:
    """What the commands say of a job that is stopped."""
    shown = bench.command("state", "show", "--json", spark=True)
    assert shown.returncode == 0, shown.stderr
    state = json.loads(shown.stdout)
    assert (state["rows"], state["waiting"]) == (entities, 0)
    verified = bench.command("state", "verify", "--log", str(log), spark=True)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "state       decide by entity, 2 partitions in rocksdb" in bench.command("checkpoint", "show").stdout
    moved = bench.command("checkpoint", "set-offsets", "--at", START.isoformat(), "--stopped", "--yes")
    assert moved.returncode == 2
    assert "has a state, which belongs to its own batches" in moved.stderr


def assert_records(bench: Bench, messages: Sequence[SourceMessage], outcomes: Iterable[Outcome]) -> None:
    """Headers, schemas and errors of all that was written."""
    ids: Mapping[Position, str | None] = {message.position: message.event_id for message in messages}
    by_value = {outcome.value(): outcome for outcome in outcomes if isinstance(outcome, Operation)}
    for arrival in bench.outputs():
        position = by_value[arrival.value].sources[0]
        assert arrival.headers == headers_of(position, ids[position])
    for topic in (bench.config.sink.effective_lapsed_topic, bench.config.sink.inconsistency_topic):
        assert topic is not None
        for arrival in read_topic(bench.bootstrap, topic):
            event = orjson.loads(arrival.value)
            validator = validator_of(event["$schema"])
            assert validator is not None
            validator.validate(event)
            assert arrival.source is not None
            position = Position(*arrival.source)
            assert arrival.headers == headers_of(position, ids[position])
    errors = [orjson.loads(arrival.value) for arrival in bench.errors()]
    for error in errors:
        error_validator().validate(error)
    assert {error["error_type"] for error in errors} == {"malformed_json", "schema_violation"}


@pytest.mark.slow
def test_what_passes_at_once_ends_in_the_same_revisions(make_bench: MakeBench) -> None:
    bench = make(make_bench, "decide-at-once")
    outcomes = decided(bench, publish(bench, published_events()))
    last = {entity: last_step(values) for entity, values in operations(outcomes).items()}
    run = bench.start()

    def is_complete() -> bool:
        return {entity: last_step(values) for entity, values in first_of_each(bench.outputs()).items()} == last

    run.await_condition(is_complete, "each entity to end at its revision")
    lapsed = bench.config.sink.effective_lapsed_topic
    run.await_condition(lambda: list(read_topic(bench.bootstrap, lapsed)), "the late event to lapse")
    assert run.terminate() == 0, run.process.last_words(20)
    for values in first_of_each(bench.outputs()).values():
        seqs = [orjson.loads(value)["seq"] for value in values]
        assert seqs == list(range(1, len(seqs) + 1))


def last_step(values: Sequence[bytes]) -> tuple[bool, int]:
    """Whether the entity is there at the end, and at which revision."""
    operation = orjson.loads(values[-1])
    return operation["op"] != "delete", operation["rev"]
