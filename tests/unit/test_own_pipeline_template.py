"""The template of docs/own-pipeline.md keeps the contract which that page states."""

import importlib.util
import io
import json
import re
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path
from types import ModuleType

import pytest

from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec

PAGE = Path(__file__).parents[2] / "docs" / "own-pipeline.md"
TEMPLATE = Path(__file__).parents[2] / "docs" / "examples" / "my_pipeline.py"
FATES = {"DEVKIT_OUTPUT_TOPIC": "output", "DEVKIT_ERROR_TOPIC": "error", None: "filtered"}


@pytest.fixture
def template(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("my_pipeline", TEMPLATE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("DEVKIT_MOCK_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: io.BytesIO(b"<p>html</p>"))
    return module


def test_each_event_ends_as_it_has_to(template: ModuleType) -> None:
    broken = {"canary": 0.1, "not_wikitext": 0.1, "not_json": 0.1, "not_schema": 0.1}
    mix = {**broken, "delete": 0.1, "visibility_change": 0.1}
    traffic = generate(TrafficSpec.model_validate({"seed": 7, "rate": "20/s", "for": "30s", "mix": mix}))
    seen = set()
    for record in traffic.records:
        topic, value = template.enriched(record.value)
        assert FATES[topic] == record.expected.fate, record.value
        if topic == "DEVKIT_ERROR_TOPIC":
            assert json.loads(value)["error_type"] == record.expected.reason
        seen.add((record.expected.fate, record.expected.reason))
    assert {reason for _, reason in seen} == {None, "canary", "content_model", "malformed_json", "schema_violation"}


def test_it_is_as_short_as_its_page_says() -> None:
    (lines,) = re.findall(r"A template\]\(examples/my_pipeline.py\) of (\d+) lines", PAGE.read_text())
    assert len(TEMPLATE.read_text().splitlines()) == int(lines) <= 61


@pytest.mark.parametrize(
    ("revision", "kind", "topic"),
    [
        ({"content_slots": {"main": {"content_model": "wikitext"}}}, "edit", "DEVKIT_OUTPUT_TOPIC"),
        ({"content_slots": {"main": {"content_model": "json"}}}, "edit", None),
        ({"content_slots": {"main": {"content_model": "json"}}}, "delete", "DEVKIT_OUTPUT_TOPIC"),
        ({}, "delete", "DEVKIT_OUTPUT_TOPIC"),
        ({}, "edit", None),
        ({"is_content_visible": False}, "visibility_change", "DEVKIT_OUTPUT_TOPIC"),
        (
            {"is_content_visible": False, "content_slots": {"main": {"content_model": "json"}}},
            "visibility_change",
            None,
        ),
    ],
)
def test_what_is_no_wikitext_leaves_no_record_unless_it_is_a_delete(
    template: ModuleType, revision: dict[str, object], kind: str, topic: str | None
) -> None:
    stated = {"wiki_id": "enwiki", "dt": "2026-03-02T10:00:00Z", "changelog_kind": "update", "page_change_kind": kind}
    event = stated | {
        "meta": {"domain": "en.wikipedia.org"},
        "page": {"page_id": 7},
        "revision": {"rev_id": 1} | revision,
    }
    assert template.enriched(json.dumps(event).encode())[0] == topic


def test_a_page_that_is_refused_is_an_error_event(template: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise urllib.error.HTTPError("/", 404, "", Message(), None)

    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    traffic = generate(TrafficSpec.model_validate({"seed": 7, "rate": "1/s", "for": "1s"}))
    found = template.enriched(traffic.records[0].value)
    assert found == ("DEVKIT_ERROR_TOPIC", b'{"error_type": "http_404"}')


def test_a_group_does_not_wait_long_for_a_member_that_crashed(
    template: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, object] = {}
    for name in ("SOURCE_TOPIC", "KAFKA_BOOTSTRAP", "ARM"):
        monkeypatch.setenv(f"DEVKIT_{name}", "x")
    monkeypatch.setattr(template, "KafkaConsumer", lambda *_, **given: settings.update(given) or ())
    monkeypatch.setattr(template, "KafkaProducer", lambda **_: None)
    template.main()
    assert settings["enable_auto_commit"] is False
    assert (settings["session_timeout_ms"], settings["heartbeat_interval_ms"]) == (6000, 2000)
