"""What docs/own-pipeline.md gives to copy: a scenario, a checkpoint that the kit can read, and a template."""

import importlib.util
import io
import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import Message
from pathlib import Path
from types import ModuleType
from typing import Any, cast
from urllib.error import HTTPError

import boto3
import pytest
from mypy_boto3_s3 import S3Client

from devkit.observe.checkpoint import Checkpoint
from devkit.scenario.load import load_scenario
from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from tests.own_pipeline_page import CARELESS, HAMMERING, LAGGING, block, careless, lagging, mine
from tests.unit.devkit.observe.fake_s3 import FakeS3

URL = "http://127.0.0.1:1/w"
PAGE = Path(__file__).parents[2] / "docs" / "own-pipeline.md"
TEMPLATE = Path(__file__).parents[2] / "docs" / "examples" / "my_pipeline.py"
FATES = {"DEVKIT_OUTPUT_TOPIC": "output", "DEVKIT_ERROR_TOPIC": "error", None: "filtered"}


class Written(FakeS3):
    def put_object(self, *, Bucket: str, Key: str, Body: bytes) -> None:  # noqa: N803 - boto's own names
        self.put(Bucket, Key, Body.decode())


def test_the_kit_reads_the_checkpoint_that_its_lines_write(monkeypatch: pytest.MonkeyPatch) -> None:
    store, written = Written(), {}
    settings = {"DEVKIT_CHECKPOINT": "s3a://bucket/some/prefix", "DEVKIT_SOURCE_TOPIC": "events"}
    for name, value in {**settings, "DEVKIT_S3_ENDPOINT": "http://127.0.0.1:1", "AWS_REGION": "here"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "client", lambda *_, **__: store)
    exec(block("python", "import json"), written)  # the page's own lines
    assert written["begun"]() == (0, {}, None)
    for batch, end in enumerate((20, 40)):
        written["plan"](batch, {0: end, 1: 7})
        if batch == 0:
            written["commit"](batch)
            assert written["begun"]() == (1, {0: 20, 1: 7}, None)
    assert written["begun"]() == (1, {0: 20, 1: 7}, {0: 40, 1: 7})
    checkpoint = Checkpoint(cast(S3Client, store), "bucket", "some/prefix", ("events",))
    assert checkpoint.committed() == {("events", 0): 20, ("events", 1): 7}
    failed = checkpoint.failed_range()
    assert failed is not None
    assert (failed.start, failed.end) == (checkpoint.committed(), {("events", 0): 40, ("events", 1): 7})


@pytest.mark.parametrize(("beginning", "program"), [(HAMMERING, mine), (CARELESS, careless), (LAGGING, lagging)])
def test_its_scenarios_can_be_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, beginning: str, program: Callable[[], str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(program())
    file = tmp_path / "scenario.yaml"
    file.write_text(block("yaml", beginning))
    assert load_scenario(file).cause or beginning == HAMMERING
    compile(program(), "mine.py", "exec")


def test_its_counts_are_those_that_a_program_of_other_values_can_meet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").touch()
    file = tmp_path / "hammering.yaml"
    file.write_text(block("yaml", HAMMERING))
    counts = load_scenario(file).expect["fixed"][2].argument
    counted = ", ".join(f"{name}: 0" for name in counts.bounds)
    assert f"audit: {{ {counted} }}" in block("yaml", "audit:")


@pytest.mark.parametrize(("retries", "pauses"), [("at once", []), ("after a pause", [1, 1])])
def test_its_program_asks_again_as_its_arm_says(
    monkeypatch: pytest.MonkeyPatch, retries: str, pauses: list[int]
) -> None:
    program: dict[str, Any] = {"__name__": "mine"}
    exec(mine(), program)  # the page's own lines
    slept: list[int] = []
    answers: list[Any] = [HTTPError(URL, 503, "", Message(), None)] * 2 + [io.BytesIO(b"html")]

    def answer(_request: object, timeout: float) -> Any:
        assert timeout == 60
        found = answers.pop(0)
        if isinstance(found, HTTPError):
            raise found
        return found

    monkeypatch.setenv("RETRIES", retries)
    monkeypatch.setattr(urllib.request, "urlopen", answer)
    program["sleep"] = slept.append
    assert program["answered"](urllib.request.Request(URL), timeout=60).read() == b"html"
    assert slept == pauses
    answers.append(HTTPError(URL, 404, "", Message(), None))
    with pytest.raises(HTTPError, match="404"):
        program["answered"](urllib.request.Request(URL), timeout=60)


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
