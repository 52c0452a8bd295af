"""What rdf-decide must make of generated source events, beside what the pipeline's own modules make of them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.audit import DeliveryAudit
from devkit.observe.audit.model import Audit
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.expected_output.decide_truth import DecideTruth
from devkit.observe.expected_output.entity_history import EntityEvent, History, history
from devkit.observe.expected_output.truth import WikiAnswers
from devkit.traffic.all_streams import generate_all
from devkit.traffic.entity_life import entity_id
from devkit.traffic.manifest import ManifestEntry
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import Traffic
from mockapi.wiki.wikibase.entity_rdf import EntityRdf
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.jobs.message import SourceMessage
from pipeline.rdf.operation import Operation
from pipeline.records.page_change import InvalidEventError
from pipeline.records.record import Position
from pipeline.updater.reorder import EntityState, Outcome, ReorderRules, accept, release
from pipeline.updater.side_output import LapsedAction, StateInconsistency, side_record
from pipeline.updater.source_event import EntityPages, parse_source_event
from pipeline.updater.source_event import SourceEvent as Parsed
from tests.unit.mockapi.wiki.wikibase.conftest import entity_at

DOMAIN = "www.wikidata.org"
WINDOW_MS = 5_000
FAR_MS = 4 * 10**12
IN_ORDER, AT_ONCE = ReorderRules(WINDOW_MS, continue_at_once=False), ReorderRules(WINDOW_MS)
MIX = {"create": 0.1, "delete": 0.2, "undelete": 0.15, "merge": 0.1, "not_json": 0.02, "not_schema": 0.02}
TOPICS = {
    "active": {"eqiad": "0s", "codfw": "2s"},
    "delays": {"page-delete": "4s", "revision-create": "1s", "page-undelete": "2s"},
}
OPERATIONS, SIDE = "operations", "side"
CONFIG = cast(
    PipelineConfig, SimpleNamespace(sink=SimpleNamespace(topic=OPERATIONS), rdf=SimpleNamespace(wiki="wikidatawiki"))
)


def body(_wiki: str, path: str) -> bytes:
    entity, _, query = path.rpartition("/")[2].partition(".nt?")
    return EntityRdf("nt").write(9, entity_at(entity, int(query.rpartition("=")[2]) % 4096))


TRUTH = DecideTruth(CONFIG, WikiAnswers(html=lambda *_: "", body=body))


@dataclass(frozen=True)
class Published:
    traffic: Traffic
    events: list[SourceEvent]
    happened_ms: list[int]


def published(seed: int, **keys: Any) -> Published:
    """Generated traffic in the order in which it is published."""
    spec = {"seed": seed, "rate": "40/s", "for": "5s", "population": 8, "mix": MIX, "wikibase_topics": TOPICS} | keys
    spec |= {"generator": "wikibase_source", "wikis": {"wikidatawiki": DOMAIN}, "event_times": {"published": "x1"}}
    traffic = generate_all(TrafficSpec.model_validate(spec))
    offsets: defaultdict[str, count[int]] = defaultdict(count)
    events = []
    for record in traffic.records:
        topic = record.topic or ""
        entry = ManifestEntry(topic=topic, partition=0, offset=next(offsets[topic]), expected=record.expected)
        events.append(SourceEvent(entry, record.key, record.value))
    return Published(traffic, events, [record.timestamp_ms or 0 for record in traffic.records])


def parsed(event: SourceEvent) -> Parsed | None:
    """As the job reads it. Raises InvalidEventError."""
    message = SourceMessage(Position(*event.position), event.key, event.value, datetime(2026, 3, 2, 9, tzinfo=UTC))
    return parse_source_event(message, EntityPages(DOMAIN))


def model(made: Published) -> History:
    return history(EntityEvent.of(event) for event in made.events if event.entry.expected.fate == "output")


def decide(made: Published, rules: ReorderRules) -> list[Outcome]:
    """By the pipeline's modules, one event at a time, with the watermark behind the newest by the longest delay."""
    states: defaultdict[str, EntityState] = defaultdict(EntityState)
    outcomes: list[Outcome] = []
    newest = 0
    for event, happened_ms in zip(made.events, made.happened_ms, strict=True):
        newest = max(newest, happened_ms)
        try:
            source = parsed(event)
        except InvalidEventError:
            continue
        if source is None:
            continue
        accepted = accept(states[source.entity], [source], newest, rules)
        states[source.entity] = accepted.state
        outcomes += accepted.outcomes
        for entity, state in states.items():
            step = release(state, newest, rules)
            states[entity] = step.state
            outcomes += step.outcomes
    for state in states.values():
        outcomes += release(state, FAR_MS, rules).outcomes
    return outcomes


def place(outcome: Outcome) -> tuple[str, int, int]:
    position = outcome.sources[0] if isinstance(outcome, Operation) else outcome.event.position
    return position.topic, position.partition, position.offset


def described(outcome: Outcome) -> tuple[str, int | None]:
    if isinstance(outcome, Operation):
        return outcome.op, outcome.from_rev
    return ("late" if isinstance(outcome, LapsedAction) else outcome.inconsistency), None


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_generator_and_job_read_the_same(seed: int) -> None:
    """Which events are of an entity, and which cannot be read and why."""
    for event in published(seed, canaries={"every": "1s"}).events:
        expected = event.entry.expected
        if expected.fate == "error":
            with pytest.raises(InvalidEventError) as invalid:
                parsed(event)
            assert invalid.value.failure.error_type == expected.reason
            continue
        source = parsed(event)
        if source is None:
            assert expected.fate == "filtered"
            continue
        own = EntityEvent.of(event)
        assert expected.fate == "output"
        assert (own.entity, own.rev, own.parent) == (source.entity, source.rev, source.parent or 0)
        assert own.kind == source.action.split("-")[1]
        assert int(own.time.timestamp() * 1000) == source.time_ms


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), repeats=st.booleans())
def test_each_event_has_the_outcome_that_the_pipeline_gives_it(seed: int, *, repeats: bool) -> None:
    made = published(seed, **({"repeats": {"share": "10%", "after": "900ms"}} if repeats else {}))
    expected = model(made)
    outcomes = decide(made, IN_ORDER)
    assert {place(outcome): described(outcome) for outcome in outcomes} == {
        position: (decision.outcome, decision.from_rev) for position, decision in expected.decisions.items()
    }


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_an_entity_ends_as_the_wiki_has_it(seed: int) -> None:
    made = published(seed)
    last = {entity_id(page.title): page.revisions[-1].rev_id for page in made.traffic.pages}
    for entity, revision in model(made).revisions.items():
        assert revision in (None, last[entity])
    for rules in (IN_ORDER, AT_ONCE):
        store: dict[str, int | None] = dict.fromkeys(model(made).revisions)
        for outcome in decide(made, rules):
            if isinstance(outcome, Operation):
                store[outcome.entity] = None if outcome.op == "delete" else outcome.rev
        assert store == model(made).revisions


def test_traffic_has_every_kind_of_outcome() -> None:
    counts = Counter(
        decision.outcome
        for seed in range(3)
        for decision in model(published(seed, repeats={"share": "10%", "after": "1s"})).decisions.values()
    )
    assert min(counts[name] for name in ("import", "diff", "delete", "newer_revision_seen", "unmatched_delete")) > 3


def arrivals(outcomes: Iterable[Outcome]) -> list[Arrival]:
    """The records of the job."""
    made = []
    for offset, outcome in enumerate(outcomes):
        if isinstance(outcome, Operation):
            topic, value = OPERATIONS, outcome.value()
        else:
            topic, value = SIDE, side_record(outcome, topic=SIDE, emitter="rdf-decide").value
        entity = outcome.entity if isinstance(outcome, Operation) else outcome.event.entity
        made.append(Arrival(topic, 0, offset, value, {}, place(outcome), offset, entity.encode()))
    return made


def audit(made: Published, records: Sequence[Arrival]) -> Audit:
    held = DeliveryAudit(made.events, truth=TRUTH, resolve=lambda _: b"")
    for record in records:
        (held.add_output if record.topic == OPERATIONS else held.add_error)(record)
    # Those that cannot be read are another test's.
    return held.finish({(event.partition): 10**6 for event in made.events})


@pytest.fixture(scope="module")
def made() -> Published:
    return published(3, repeats={"share": "5%", "after": "900ms"}, mix={**MIX, "not_json": 0, "not_schema": 0})


@pytest.mark.parametrize("rules", [IN_ORDER, AT_ONCE], ids=["in order", "at once"])
def test_the_audit_of_a_right_job_is_clean(made: Published, rules: ReorderRules) -> None:
    figures = audit(made, arrivals(decide(made, rules)))
    assert figures.outputs + figures.errors + figures.filtered == figures.inputs
    assert figures.errors > 3
    assert not figures.examples


def _with(record: Arrival, **fields: Any) -> Arrival:
    return replace(record, value=orjson.dumps(orjson.loads(record.value) | fields))


def _first(records: list[Arrival], **fields: Any) -> int:
    """The place of the first operation with these fields."""
    return next(
        index
        for index, record in enumerate(records)
        if record.topic == OPERATIONS and fields.items() <= orjson.loads(record.value).items()
    )


BROKEN: dict[str, tuple[Callable[[list[Arrival], int], list[Arrival]], str, str]] = {
    "another start": (lambda made, n: [_with(made[n], from_rev=1)], "mismatched", "from_rev is 1"),
    "another entity": (lambda made, n: [_with(made[n], entity="Q1")], "mismatched", "entity is 'Q1'"),
    "another id": (lambda made, n: [_with(made[n], id="x")], "mismatched", "id is 'x'"),
    "another time": (lambda made, n: [_with(made[n], dt="2026-03-02T09:00:00Z")], "mismatched", "dt is"),
    "no operation": (lambda made, n: [replace(made[n], value=b"[]")], "mismatched", "not an operation"),
    "another key": (lambda made, n: [replace(made[n], key=b"Q1")], "mismatched", "its key is 'Q1'"),
    "left out": (lambda _made, _n: [], "lost", "expected an output"),
}


@pytest.mark.parametrize(("change", "problem", "message"), BROKEN.values(), ids=BROKEN)
def test_the_audit_finds_a_wrong_operation(
    made: Published, change: Callable[[list[Arrival], int], list[Arrival]], problem: str, message: str
) -> None:
    records = arrivals(decide(made, IN_ORDER))
    place_of_it = _first(records, op="diff")
    records[place_of_it : place_of_it + 1] = change(records, place_of_it)
    examples = audit(made, records).examples
    assert any(message in str(example) for example in examples), examples
    assert problem in str(examples)


def test_the_audit_finds_operations_out_of_order(made: Published) -> None:
    records = arrivals(decide(made, IN_ORDER))
    second = _first(records, seq=2)
    records.insert(0, records.pop(second))
    assert audit(made, records).out_of_order == 1


def test_the_audit_finds_an_inconsistency_in_the_place_of_an_operation(made: Published) -> None:
    outcomes = decide(made, IN_ORDER)
    decisions = model(made).decisions
    index = next(
        number
        for number, outcome in enumerate(outcomes)
        if isinstance(outcome, Operation) and not decisions[place(outcome)].may_be_newer
    )
    event = next(event for event in made.events if event.position == place(outcomes[index]))
    source = parsed(event)
    assert source is not None
    outcomes[index] = StateInconsistency(source, "newer_revision_seen", 0)
    assert audit(made, arrivals(outcomes)).misrouted == 1


def test_the_store_has_the_last_revision_of_each_entity(made: Published) -> None:
    expected = model(made).revisions
    stored = {truth.entity: truth.triples for truth in TRUTH.stored(made.events)}
    assert stored.keys() == expected.keys()
    assert {entity for entity, triples in stored.items() if not triples} == {
        entity for entity, revision in expected.items() if revision is None
    }
    assert not all(stored.values())


def test_the_clock_of_the_records_is_that_of_the_events(made: Published) -> None:
    for event, happened_ms in zip(made.events, made.happened_ms, strict=True):
        if event.entry.expected.fate == "output":
            assert happened_ms == round(EntityEvent.of(event).time.timestamp() * 1000)
