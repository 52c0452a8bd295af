"""content-enrichment: which events it takes is its configuration's, and the source is the wiki's own."""

from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from devkit.errors import StackError
from devkit.observe.expected_output.content_truth import ContentTruth
from devkit.observe.expected_output.truth import WikiAnswers
from devkit.traffic.records import Expected
from pipeline.config.pipeline_config import PipelineConfig
from tests.unit.devkit.observe.audit.events import NO_REVISION, SOURCE, source_event

EDIT = source_event(1)
DELETE = source_event(2, latest=None)


def no_html(wiki: str, revision: int) -> str:
    raise AssertionError(f"it fetches no HTML, as of {revision}")


def truth(models: Any = "all", answer: bytes = b'{"source": "== X ==", "id": 20}') -> ContentTruth:
    asked = {("enwiki", "/w/rest.php/v1/revision/20"): answer}
    config = SimpleNamespace(sink=SimpleNamespace(topic="content"), content=SimpleNamespace(models=models))
    wiki = WikiAnswers(html=no_html, body=lambda wiki, path: asked[wiki, path])
    return ContentTruth(cast(PipelineConfig, config), wiki)


def output(*, body: str | None) -> dict[str, Any]:
    value = orjson.loads((EDIT if body else DELETE).value)
    value["meta"] |= {"stream": "content", "id": "derived"}
    if body:
        value["revision"]["content_slots"]["main"]["content_body"] = body
    return dict(value)


def wrong(value: dict[str, Any], *, body_removed: bool = False) -> str | None:
    event = DELETE if value["revision"]["rev_id"] == NO_REVISION else EDIT
    return truth().output(event).difference(orjson.dumps(value), body_removed=body_removed)


def test_the_output_as_it_must_be() -> None:
    assert wrong(output(body="== X ==")) is None
    assert wrong(output(body=None)) is None


def test_what_is_wrong() -> None:
    assert wrong(output(body="== Y ==")) == "payload hash differs from the expected one"
    assert wrong(output(body="== X ==") | {"html_diff": {}}) == "payload hash differs from the expected one"
    assert wrong(output(body="== X =="), body_removed=True) == "payload hash differs from the expected one"
    assert (truth().output(EDIT).difference(b"[1]", body_removed=False) or "").startswith("not an event: ")


@pytest.mark.parametrize("answer", [b"no json", b"{}", b"[]"])
def test_a_source_that_is_not_there(answer: bytes) -> None:
    with pytest.raises(StackError, match="source of revision 20 of enwiki is not readable"):
        truth(answer=answer).output(EDIT)


OTHER = Expected(fate="filtered", reason="content_model", event_id="x")
OUTPUT = Expected(fate="output", event_id="x", latest_revision=20, parent_revision=10)


def edit_of(model: str | None) -> bytes:
    slots = {"main": {} if model is None else {"content_model": model}}
    return orjson.dumps({"revision": {"rev_id": 20, "content_slots": slots}})


@pytest.mark.parametrize(
    ("models", "model", "stated", "fate"),
    [
        ("all", "css", OTHER, "output"),
        (("css",), "css", OTHER, "output"),
        (("wikitext",), "css", OTHER, "filtered"),
        (("css",), "wikitext", OUTPUT, "filtered"),
        ("all", "wikitext", OUTPUT, "output"),
        ((), None, OUTPUT, "output"),
        ("all", "wikitext", Expected(fate="error", reason="access_denied"), "error"),
    ],
)
def test_content_models_are_those_of_its_configuration(
    models: Any, model: str | None, stated: Expected, fate: str
) -> None:
    found = truth(models).expected(SOURCE, edit_of(model), stated)
    assert found.fate == fate
    assert found.latest_revision == (20 if fate == "output" else stated.latest_revision)


@pytest.mark.parametrize("reason", ["malformed_json", "schema_violation", "canary"])
def test_what_is_no_event_for_any_job_ends_as_stated(reason: str) -> None:
    stated = Expected(fate="error", reason=reason)
    assert truth(()).expected(SOURCE, b"{", stated) is stated
