from typing import Any

import orjson
import pytest

from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.expected_output.enriched_event import payload_hash
from devkit.observe.expected_output.registry import TRUTHS
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.jobs.registry import JOBS
from tests.unit.devkit.observe.audit.events import TRUTH, enriched, source_event, truth, without_bodies

NOT_APPLIED = "diff to revision 10 does not apply"
ANOTHER_HASH = "payload hash differs from the expected one"
EDIT = source_event(1)
CREATE = source_event(2, parent=None)
DELETE = source_event(3, latest=None, parent=None)


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
