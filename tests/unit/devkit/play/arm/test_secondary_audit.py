"""A second program that reads the same source and writes to topics of its own, on a stack of values."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from devkit.guardian import ManagedProcess
from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.model import Audit
from devkit.play.arm import collection as collection_module
from devkit.play.arm import secondary_audit as audit_beside_module
from devkit.play.arm.observation import programs
from devkit.play.arm.secondary_audit import audit_beside
from devkit.programs.program_run import ProgramRun
from devkit.stack.stack import Stack
from devkit.traffic.publish import Publisher
from devkit.traffic.records import Expected, PageRef, SourceRecord
from pipeline.events import BatchStarted
from tests.unit.devkit.conftest import Load
from tests.unit.devkit.observe.audit.events import source_event
from tests.unit.devkit.play.arm.stage import SOURCE, Stage, set_up

PROGRAMS = """programs:
  html: { run: pipeline html-enrichment }
  content: { run: pipeline content-enrichment }
  reader: { run: consumer content-enrichment }
"""
OUTPUT = "mediawiki.page_content_change.v1"
# Of another content model: html-enrichment filters it, content-enrichment does not.
EDIT = source_event(0)
VALUE = orjson.dumps(
    (edit := orjson.loads(EDIT.value))
    | {
        "changelog_kind": "update",
        "page": edit["page"] | {"page_title": "X", "namespace_id": 0, "is_redirect": False},
        "performer": {"user_text": "a user"},
        "revision": {
            "rev_id": 20,
            "rev_dt": "2026-06-01T00:00:00Z",
            "rev_size": 4,
            "content_slots": {"main": {"slot_role": "main", "content_model": "css"}},
        },
    }
)
STATED = Expected(
    fate="filtered", reason="content_model", event_id="id-0-0", page=PageRef(wiki="enwiki", page_id=1, title="X")
)

NO_LOG = Path(os.devnull)


def output_record(body: str = "a {}") -> Arrival:
    value = orjson.loads(VALUE)
    value["meta"] |= {"stream": OUTPUT, "id": "derived"}
    value["revision"]["content_slots"]["main"]["content_body"] = body
    return Arrival(OUTPUT, 0, 0, orjson.dumps(value), {}, (SOURCE, 0, 0), 0, b"key")


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Arrival]]:
    """What is in each topic."""
    topics: dict[str, list[Arrival]] = {OUTPUT: [output_record()]}
    monkeypatch.setattr(collection_module, "read_topic", lambda _, topic: iter(topics.get(topic, ())))
    return topics


@pytest.fixture
def stage(tmp_path: Path, load: Load, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    topic = SimpleNamespace(entries=audit_beside_module.DeferredEntries(), catch_up=int, close=int)
    monkeypatch.setattr(audit_beside_module, "DeferralTopic", lambda *_: topic)
    with set_up(load(("until:", f"{PROGRAMS}until:")), tmp_path) as stage:
        mock = SimpleNamespace(truth=len, truth_at=lambda wiki, path: json.dumps({"source": "a {}"}).encode())
        stack = {**vars(stage.arm.context.stack), "mock_api": mock}
        stage.arm.context = replace(stage.arm.context, stack=cast(Stack, SimpleNamespace(**stack)))
        entry = EDIT.entry.model_copy(update={"topic": SOURCE, "expected": STATED})
        record = SourceRecord(0, timedelta(0), b"key", VALUE, STATED)
        manifest = SimpleNamespace(entries=(entry,))
        publisher = SimpleNamespace(manifest=lambda: manifest, sent=lambda: (record,))
        stage.arm.publisher = cast(Publisher, publisher)
        start(content(stage))
        stage.store.put(
            "checkpoints", "incident/an-incident-content/offsets/0", f'v1\n{{}}\n{{"{SOURCE}": {{"0": 1}}}}'
        )
        stage.store.put("checkpoints", "incident/an-incident-content/commits/0", "v1\n{}")
        yield stage


def start(run: ProgramRun) -> None:
    run.supervisor._processes = [cast(ManagedProcess, SimpleNamespace(exit_code=None, stdout=NO_LOG, stderr=NO_LOG))]


def content(stage: Stage) -> ProgramRun:
    return stage.arm.programs[1]


def audited(stage: Stage) -> Audit:
    audit = audit_beside(stage.arm, content(stage))
    assert audit is not None
    return audit


def test_it_is_held_against_the_truth_of_its_own_job(stage: Stage, left: dict[str, list[Arrival]]) -> None:
    audit = audited(stage)
    assert (audit.inputs, audit.outputs, audit.problems()) == (1, 1, {})
    left[OUTPUT] = [output_record("b {}")]
    assert audited(stage).problems() == {"mismatched": 1}
    left[OUTPUT] = []
    assert audited(stage).problems() == {"lost": 1}


def test_an_error_that_the_arm_states_of_a_page_is_expected(
    stage: Stage, left: dict[str, list[Arrival]], monkeypatch: pytest.MonkeyPatch
) -> None:
    title = json.loads(VALUE)["page"]["page_title"].replace("_", " ")
    monkeypatch.setattr(type(stage.arm.scenario), "errors_of_pages", lambda *_: {title: "revision_not_found"})
    assert audited(stage).problems() == {"misrouted": 1}


def test_a_batch_that_was_begun_again_is_known_when_spark_has_removed_its_offsets(
    stage: Stage, left: dict[str, list[Arrival]]
) -> None:
    for _ in range(2):
        stage.arm.events["content"].take(BatchStarted(batch=0))
    left[OUTPUT] = [output_record(), replace(output_record(), offset=1)]
    offsets = "incident/an-incident-content/offsets"
    stage.store.put("checkpoints", f"{offsets}/1", stage.store.objects.pop(("checkpoints", f"{offsets}/0")))
    stage.store.put("checkpoints", "incident/an-incident-content/commits/1", "v1\n{}")
    audit = audited(stage)
    assert (audit.duplicated, audit.excused, audit.problems()) == (1, 1, {})


def test_a_store_that_does_not_answer_ends_no_arm_for_a_program_beside(stage: Stage) -> None:
    stage.store.objects.clear()
    for _ in range(2):
        stage.arm.events["content"].take(BatchStarted(batch=1))
    assert stage.output.getvalue().endswith("batch 1 again\n")


def test_its_observation_has_the_audit(stage: Stage, left: dict[str, list[Arrival]]) -> None:
    assert [one.unaudited for one in programs(stage.arm, frozenset())] == ["", OUTPUT, OUTPUT]
    audit = audited(stage)
    stage.arm.state.audits_beside["content"] = audit
    seen = programs(stage.arm, frozenset())[1]
    assert (seen.audit, seen.unaudited) == (audit, "")


@pytest.mark.parametrize("reason", ["never started", "no commit", "shared topic", "no truth", "consumer"])
def test_what_is_not_known_of_it_is_not_audited(
    stage: Stage, left: dict[str, list[Arrival]], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: Any = content(stage)
    match reason:
        case "never started":
            run.supervisor._processes.clear()
        case "no commit":
            stage.store.objects.clear()
        case "shared topic":
            sink = run.configured.config.sink.model_copy(update={"error_topic": stage.arm.topics.error})
            run.configured = replace(run.configured, config=run.configured.config.model_copy(update={"sink": sink}))
        case "no truth":
            monkeypatch.setattr(audit_beside_module, "truth_of", lambda *_: None)
        case "consumer":
            run = stage.arm.programs[2]
            start(run)
    assert audit_beside(stage.arm, run) is None
