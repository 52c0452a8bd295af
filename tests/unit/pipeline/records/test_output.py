import copy
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.output import HtmlContent, SourceContent, html_value, source_value
from pipeline.records.page_change import parse
from pipeline.schemas import HTML_CHANGE_URI, html_change_validator, page_change_validator
from tests.unit.pipeline.making import make_event

STREAM = "mediawiki.page_html_content_change.v1"
TEXTS = st.text(max_size=200)


def output_of(event: dict[str, Any], content: HtmlContent | None, position: str = "t/0/1") -> dict[str, Any]:
    made: dict[str, Any] = orjson.loads(html_value(parse(orjson.dumps(event), position), content, stream=STREAM))
    return made


@given(html=TEXTS, diff=st.none() | TEXTS)
def test_an_output_is_valid_by_its_schema_and_without_its_diff_a_page_change(html: str, diff: str | None) -> None:
    output = output_of(make_event(), HtmlContent(html, 28673 if diff is not None else None, diff))
    html_change_validator().validate(output)
    addition = output.pop("html_diff", None)
    page_change_validator().validate(output)
    assert output["revision"]["content_slots"]["main"]["content_body"] == html
    assert addition == (None if diff is None else {"base_rev_id": 28673, "format": "unified", "body": diff})


def test_only_meta_and_the_body_differ_from_the_source_event() -> None:
    event = make_event(comment="why", performer={"user_text": "Ä"})
    output = output_of(event, HtmlContent("<p>"))
    assert output["meta"].pop("stream") == STREAM
    assert output["meta"].pop("id") != event["meta"].pop("id")
    del output["revision"]["content_slots"]["main"]["content_body"], event["meta"]["stream"]
    assert output == event | {"$schema": HTML_CHANGE_URI}
    assert list(output) == list(event), "the source's order of fields"


def test_without_content_the_body_fields_are_absent() -> None:
    event = parse(orjson.dumps(make_event()), "t/0/1")
    for value in (html_value(event, None, stream=STREAM), source_value(event, None, stream=STREAM)):
        output = orjson.loads(value)
        assert "html_diff" not in output
        assert output["revision"] == make_event()["revision"]


@pytest.mark.parametrize("content", [None, HtmlContent("<p>", 1, "")], ids=["without content", "with content"])
def test_a_body_of_the_source_event_is_not_passed_on(content: HtmlContent | None) -> None:
    slots = {role: {"content_model": "wikitext", "content_body": "''hidden''"} for role in ("main", "other")}
    assert b"hidden" not in html_value(
        parse(orjson.dumps(make_event(revision={"content_slots": slots})), "t/0/1"), content, stream=STREAM
    )


@pytest.mark.parametrize("kind", ["edit", "visibility_change"])
def test_nor_is_one_of_the_state_before(kind: str) -> None:
    """What was to be seen then may be hidden since; all else of that state is passed on."""
    slots = {role: {"content_model": "wikitext", "content_body": "''hidden''"} for role in ("main", "other")}
    bare = {role: {"content_model": "wikitext"} for role in slots}
    prior = {"page": {"page_title": "Alt"}, "revision": {"rev_id": 5, "content_slots": slots}, "new": 1}
    event = make_event(kind, revision={"is_content_visible": False}, prior_state=prior)
    parsed = parse(orjson.dumps(event), "t/0/1")
    for value in (html_value(parsed, None, stream=STREAM), source_value(parsed, None, stream=STREAM)):
        output = orjson.loads(value)
        assert output["prior_state"] == prior | {"revision": {"rev_id": 5, "content_slots": bare}}
        assert list(output) == list(event), "the source's order of fields"
    assert parsed.raw["prior_state"] == prior


@pytest.mark.parametrize("prior", [{}, {"page": {"page_title": "Alt"}}, {"revision": {"is_content_visible": True}}])
def test_a_state_before_without_slots_stays_as_it_is(prior: dict[str, Any]) -> None:
    assert output_of(make_event(prior_state=prior), None)["prior_state"] == prior


def test_a_delete_without_slots_stays_without() -> None:
    output = output_of(make_event("delete", revision={"content_slots": None}), None)
    assert "content_slots" not in output["revision"]
    page_change_validator().validate(output)


def test_a_repeat_is_the_same_and_another_event_has_another_id() -> None:
    content = HtmlContent("<p>", 1, "diff")
    assert output_of(make_event(), content) == output_of(make_event(), content, position="t/0/2")
    other = make_event(meta={"id": "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1b"})
    assert output_of(make_event(), content)["meta"]["id"] != output_of(other, content)["meta"]["id"]


def test_the_time_is_the_source_events() -> None:
    assert output_of(make_event(), None)["meta"]["dt"] == "2026-03-02T09:00:00.150Z"
    assert output_of(make_event(meta={"dt": None}), None)["meta"]["dt"] == make_event()["dt"]


def test_the_source_event_is_not_changed() -> None:
    event = parse(orjson.dumps(make_event()), "t/0/1")
    before = copy.deepcopy(event.raw)
    html_value(event, HtmlContent("<p>", 1, "diff"), stream=STREAM)
    assert event.raw == before


def test_decoded_bytes_are_those_of_html_and_diff_before_escaping() -> None:
    assert HtmlContent('"ä"\n').decoded_bytes() == 5
    assert HtmlContent('"ä"\n', 1, "-😀").decoded_bytes() == 10


@given(text=TEXTS)
def test_a_source_stands_where_html_would_and_the_id_is_another(text: str) -> None:
    event = parse(orjson.dumps(make_event()), "t/0/1")
    source = orjson.loads(source_value(event, SourceContent(text), stream=STREAM))
    page_change_validator().validate(source)
    html = output_of(make_event(), HtmlContent(text))
    assert source["meta"].pop("id") != html["meta"].pop("id")
    assert source | {"$schema": HTML_CHANGE_URI} == html
    assert SourceContent(text).decoded_bytes() == len(text.encode())
