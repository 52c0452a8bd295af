"""What each event has to become: its HTML, or the source of its revision, of those that the configuration takes."""

from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from devkit.errors import StackError
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.expected_output.content_truth import ContentTruth
from devkit.observe.expected_output.enriched_event import payload_hash
from devkit.observe.expected_output.registry import TRUTHS
from devkit.observe.expected_output.truth import WikiAnswers
from devkit.traffic.records import Expected
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.jobs.registry import JOBS
from tests.unit.devkit.observe.audit.events import (
    NO_REVISION,
    SOURCE,
    TRUTH,
    enriched,
    source_event,
    truth,
    without_bodies,
)

NOT_APPLIED = "diff to revision 10 does not apply"
ANOTHER_HASH = "payload hash differs from the expected one"
EDIT = source_event(1)
CREATE = source_event(2, parent=None)
DELETE = source_event(3, latest=None, parent=None)
DELETION = source_event(2, latest=None)


def wrong(event: SourceEvent, value: dict[str, Any] | bytes, *, body_removed: bool = False) -> str | None:
    return TRUTH.output(event).difference(
        value if isinstance(value, bytes) else orjson.dumps(value), body_removed=body_removed
    )


@pytest.mark.parametrize("event", [EDIT, CREATE, DELETE])
def test_the_output_as_it_must_be_with_its_keys_in_any_order_and_any_id(event: SourceEvent) -> None:
    assert wrong(event, enriched(event)) is None
    value = dict(reversed(enriched(event).items()))
    value["meta"] |= {"id": "another"}
    assert wrong(event, value) is None


def test_another_correct_diff_is_as_good() -> None:
    """Whole document out, whole document in: no library makes it, and it is right."""
    before, after = truth("enwiki", 10).splitlines(), truth("enwiki", 20).splitlines()
    body = "\n".join([f"@@ -1,{len(before)} +1,{len(after)} @@", *(f"-{x}" for x in before), *(f"+{x}" for x in after)])
    assert wrong(EDIT, enriched(EDIT, html_diff={"base_rev_id": 10, "format": "unified", "body": body + "\n"})) is None


UNIFIED = {"base_rev_id": 10, "format": "unified"}
LINE_1 = "line 1 of the text"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"html_diff": None}, "no unified diff to revision 10"),
        ({"html_diff": "text"}, "no unified diff to revision 10"),
        ({"html_diff": {"base_rev_id": 11, "format": "unified", "body": ""}}, "no unified diff to revision 10"),
        ({"html_diff": {"base_rev_id": 10, "format": "json", "body": ""}}, "no unified diff to revision 10"),
        ({"html_diff": UNIFIED}, f"{NOT_APPLIED}: 'body'"),
        ({"html_diff": UNIFIED | {"body": 5}}, f"{NOT_APPLIED}: 'int' object has no attribute 'split'"),
        (
            {"html_diff": UNIFIED | {"body": "@@ -1 +1 @@\n-x\n+y\n"}},
            f"{NOT_APPLIED}: line 2 of the diff does not fit {LINE_1}",
        ),
        ({"html_diff": UNIFIED | {"body": ""}}, "diff to revision 10 does not give the latest HTML"),
        ({"page": {"page_id": 2}}, ANOTHER_HASH),
        ({"surprise": 1}, ANOTHER_HASH),
        ({"dt": None}, ANOTHER_HASH),
    ],
)
def test_what_is_wrong_with_an_edit(change: dict[str, Any], problem: str) -> None:
    assert wrong(EDIT, enriched(EDIT, **change)) == problem


def test_a_diff_where_there_is_no_parent() -> None:
    value = enriched(CREATE, html_diff={"base_rev_id": 0, "format": "unified", "body": ""})
    assert wrong(CREATE, value) == "a diff where none is expected"


@pytest.mark.parametrize("event", [CREATE, EDIT])
def test_a_diff_that_is_null(event: SourceEvent) -> None:
    """The field is an object or is not there."""
    assert wrong(event, enriched(event) | {"html_diff": None}) == "html_diff is null"
    assert wrong(event, without_bodies(event) | {"html_diff": None}, body_removed=True) == "html_diff is null"


def test_the_bodies_are_beside_a_claim_check_and_nowhere_else() -> None:
    bare = without_bodies(EDIT)
    assert wrong(EDIT, bare, body_removed=True) is None
    assert wrong(EDIT, bare) == wrong(EDIT, enriched(EDIT), body_removed=True) == ANOTHER_HASH
    del bare["page"]
    assert wrong(EDIT, bare, body_removed=True) == ANOTHER_HASH


def test_the_html_of_another_revision_and_the_stream_of_the_source() -> None:
    html, stream = enriched(EDIT), enriched(EDIT)
    html["revision"]["content_slots"]["main"]["content_body"] = truth("enwiki", 21)
    stream["meta"]["stream"] = "page_change"
    assert wrong(EDIT, html) == wrong(EDIT, stream) == ANOTHER_HASH


def test_the_receive_time_is_that_of_the_event_where_it_is_missing() -> None:
    event = orjson.loads(EDIT.value)
    del event["meta"]["dt"]
    bare = SourceEvent(EDIT.entry, EDIT.key, orjson.dumps(event))
    assert wrong(bare, enriched(EDIT)) is None


@pytest.mark.parametrize(
    "value", [b"", b"not json", b"[1]", b"5", b"{}", b'{"meta": {}}', b'{"meta": "text"}', b'{"meta": null}', b"\xff"]
)
def test_what_is_no_event_at_all(value: bytes) -> None:
    assert (wrong(EDIT, value) or "").startswith("not an event: ")


def test_the_payload_hash_is_of_the_canonical_form() -> None:
    assert payload_hash({"b": [1, 2], "a": "é"}) == payload_hash(orjson.loads('{"a": "\\u00e9", "b": [1,2]}'))
    assert payload_hash({"a": 1}) != payload_hash({"a": 2})


def test_each_job_of_the_project_has_a_truth() -> None:
    assert set(TRUTHS) == set(JOB_DEFAULTS) == set(JOBS)


def no_html(wiki: str, revision: int) -> str:
    raise AssertionError(f"it fetches no HTML, as of {revision}")


def content_truth(models: Any = "all", answer: bytes = b'{"source": "== X ==", "id": 20}') -> ContentTruth:
    asked = {("enwiki", "/w/rest.php/v1/revision/20"): answer}
    config = SimpleNamespace(sink=SimpleNamespace(topic="content"), content=SimpleNamespace(models=models))
    wiki = WikiAnswers(html=no_html, body=lambda wiki, path: asked[wiki, path])
    return ContentTruth(cast(PipelineConfig, config), wiki)


def output(*, body: str | None) -> dict[str, Any]:
    value = orjson.loads((EDIT if body else DELETION).value)
    value["meta"] |= {"stream": "content", "id": "derived"}
    if body:
        value["revision"]["content_slots"]["main"]["content_body"] = body
    return dict(value)


def wrong_content(value: dict[str, Any], *, body_removed: bool = False) -> str | None:
    event = DELETION if value["revision"]["rev_id"] == NO_REVISION else EDIT
    return content_truth().output(event).difference(orjson.dumps(value), body_removed=body_removed)


def test_the_output_as_it_must_be() -> None:
    assert wrong_content(output(body="== X ==")) is None
    assert wrong_content(output(body=None)) is None


def test_what_is_wrong() -> None:
    assert wrong_content(output(body="== Y ==")) == "payload hash differs from the expected one"
    assert wrong_content(output(body="== X ==") | {"html_diff": {}}) == "payload hash differs from the expected one"
    assert wrong_content(output(body="== X =="), body_removed=True) == "payload hash differs from the expected one"
    assert (content_truth().output(EDIT).difference(b"[1]", body_removed=False) or "").startswith("not an event: ")


@pytest.mark.parametrize("answer", [b"no json", b"{}", b"[]"])
def test_a_source_that_is_not_there(answer: bytes) -> None:
    with pytest.raises(StackError, match="source of revision 20 of enwiki is not readable"):
        content_truth(answer=answer).output(EDIT)


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
    found = content_truth(models).expected(SOURCE, edit_of(model), stated)
    assert found.fate == fate
    assert found.latest_revision == (20 if fate == "output" else stated.latest_revision)


@pytest.mark.parametrize("reason", ["malformed_json", "schema_violation", "canary"])
def test_what_is_no_event_for_any_job_ends_as_stated(reason: str) -> None:
    stated = Expected(fate="error", reason=reason)
    assert content_truth(()).expected(SOURCE, b"{", stated) is stated
