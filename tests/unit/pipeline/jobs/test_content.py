import json
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pipeline.config.pipeline_config import Content
from pipeline.fetch.client import FetchedText, FetchFailedError
from pipeline.fetch.route import Head, TryAgainError
from pipeline.jobs.content import ContentJob, ContentRoute, _Answer
from pipeline.jobs.message import Unfinished
from pipeline.records.error_event import Failure
from pipeline.schemas import error_validator, page_change_validator
from tests.unit.pipeline.jobs.conftest import bench
from tests.unit.pipeline.making import make_event

LATEST = 7 * 4096 + 2
TEXT = "''Äpfel'' & \"Birnen\"\n"
JSON_SLOT = {"content_slots": {"main": {"content_model": "json"}}}
JOB = {"job": "content-enrichment"}
CLASS = "error_type"


def answer(*slots: dict[str, Any], rev_id: int = LATEST, **query: Any) -> str:
    revisions = [{"revid": rev_id, "slots": {"main": slot}} for slot in slots]
    pages = {"pages": [{"pageid": 7, "ns": 0, "title": "Äpfel", "revisions": revisions}]} if slots else {}
    return json.dumps({"batchcomplete": True, "query": pages | query})


def refusal(code: str, info: str = "Waiting for a database server: 7.25 seconds lagged.") -> str:
    return json.dumps({"error": {"code": code, "info": info, "docref": "See …"}, "servedby": "mw1"})


ANSWERS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["query", "pages", "error", "code", "badrevids", "slots"]), inner)
    ),
    max_leaves=12,
)
BAD = answer(badrevids={str(LATEST): {"revid": LATEST, "missing": True}})
GOOD = answer({"contentmodel": "wikitext", "contentformat": "text/x-wiki", "content": TEXT})


def read(body: str, *, unknown_is_final: bool = True) -> str:
    return ContentRoute(5, unknown_is_final=unknown_is_final).read(LATEST, Head(), body)


def failure_of(body: str) -> tuple[str, str]:
    with pytest.raises(FetchFailedError) as caught:
        read(body)
    assert not caught.value.transient
    return caught.value.failure.error_type, caught.value.failure.message


@pytest.mark.parametrize("kind", ["create", "edit", "move", "undelete", "visibility_change"])
def test_the_source_stands_in_the_main_slot(kind: str) -> None:
    """One fetch whatever the kind: there is no diff, and so no parent to ask for."""
    made, event = bench({LATEST: GOOD}, **JOB), make_event(kind)
    record, output = made.output(event)
    page_change_validator().validate(output)
    assert output["revision"]["content_slots"]["main"].pop("content_body") == TEXT
    assert output["revision"] == event["revision"]
    assert output["meta"]["stream"] == record.topic == "mediawiki.page_content_change.v1"
    ((wiki, rev_id, request_id, deadline),) = made.client.asked
    assert (wiki, rev_id, request_id) == ("enwiki", LATEST, f"{event['meta']['id']}:content")
    assert deadline.remaining_s() == 41.5


def test_its_ids_are_not_those_of_the_other_job() -> None:
    _, content = bench({LATEST: GOOD}, **JOB).output(make_event("create"))
    _, html = bench({LATEST: "<p>"}).output(make_event("create"))
    assert content["meta"]["id"] != html["meta"]["id"]
    assert content["meta"]["dt"] == html["meta"]["dt"]


def test_its_error_events_are_its_own() -> None:
    record, error = bench({LATEST: BAD}, **JOB).error(make_event())
    error_validator().validate(error)
    assert error["emitter_id"] == "content-enrichment"
    assert record.topic == "mw_page_content_change_enrich.error"
    assert error[CLASS] == "revision_not_found"


@pytest.mark.parametrize(
    ("models", "changes", "filtered"),
    [
        ("all", {}, False),
        ("all", {"revision": JSON_SLOT}, False),
        ("all", {"meta": {"domain": "canary"}}, True),
        ("all", {"revision": {"content_slots": None}}, True),
        (["wikitext"], {}, False),
        (["wikitext"], {"revision": JSON_SLOT}, True),
        (["json", "css"], {"revision": JSON_SLOT}, False),
        (["json", "css"], {}, True),
    ],
)
def test_canaries_and_other_models_are_filtered(models: Any, changes: dict[str, Any], filtered: bool) -> None:
    made = bench({LATEST: GOOD}, content={"models": models}, **JOB)
    assert (made.process(make_event(**changes)) is None) == filtered
    assert (not made.client.asked) == filtered


@pytest.mark.parametrize(
    ("answered", "limit", "stored"),
    [
        (GOOD, {"max_bytes": len(TEXT.encode())}, False),
        (GOOD, {"max_bytes": len(TEXT.encode()) - 1}, True),
        (FetchedText(GOOD, 10), {"max_bytes": 9, "measure": "content_length"}, True),
    ],
    ids=["as large as the limit", "larger", "by what the header declared"],
)
def test_over_the_limit_it_is_a_claim_check(answered: Any, limit: dict[str, Any], stored: bool) -> None:
    made = bench({LATEST: answered}, content_limit=limit, **JOB)
    _, output = made.output(make_event())
    assert len(made.claims.stored) == stored
    assert ("content_body" in output["revision"]["content_slots"]["main"]) == (not stored)


def test_a_fetch_that_may_succeed_later_is_no_error_event_yet() -> None:
    late = Failure("deadline_exceeded", "late")
    made = bench({LATEST: FetchFailedError(late, transient=True)}, **JOB)
    assert made.process(make_event()) == Unfinished(late)


NOW = datetime(2026, 3, 2, 9, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(("not_found_grace", "again"), [("0s", False), ("30s", True), ("29s", False)])
def test_an_unknown_revision_is_asked_for_again_while_the_event_is_young(not_found_grace: str, again: bool) -> None:
    made = bench({LATEST: BAD}, fetch={"not_found_grace": not_found_grace}, **JOB)
    made.make = lambda config, client: ContentJob(config, client, lambda: NOW)
    if again:
        with pytest.raises(TryAgainError, match="badrevids"):
            made.process(make_event())
    else:
        assert made.error(make_event())[1][CLASS] == "revision_not_found"


def test_the_path_names_nothing_but_the_revision() -> None:
    assert ContentRoute(5, unknown_is_final=True).path(28674) == (
        "/w/api.php?action=query&format=json&formatversion=2&maxlag=5&prop=revisions&revids=28674"
        "&rvprop=ids%7Ccontent%7Ccontentmodel&rvslots=main"
    )


@given(text=st.text(max_size=50))
def test_any_text_arrives_as_it_is(text: str) -> None:
    assert read(orjson.dumps(orjson.loads(answer({"content": text}))).decode()) == text


@pytest.mark.parametrize(
    ("body", "error_type"),
    [
        (BAD, "revision_not_found"),
        (answer({"sha1hidden": True, "texthidden": True, "contentmodel": "wikitext"}), "access_denied"),
        # A viewer who may see it gets the flag and the text; neither is for publication.
        (answer({"texthidden": True, "content": "secret"}), "access_denied"),
        (refusal("badinteger"), "upstream_error"),
        (answer({"textmissing": True}), "upstream_error"),
        (json.dumps({"query": {"pages": [{"pageid": 7}]}}), "content_refused_by_upstream"),
        (json.dumps({"batchcomplete": True}), "content_refused_by_upstream"),
        (answer({"content": 7}), "invalid_body"),
        (answer({"content": "secret", "texthidden": "perhaps"}), "invalid_body"),
        ('{"query": {"pages": "' + "x" * 100_000 + '"}}', "invalid_body"),
    ],
)
def test_what_is_final(body: str, error_type: str) -> None:
    found, message = failure_of(body)
    assert found == error_type
    assert message.startswith(f"revision {LATEST}: ")
    assert len(message) < 500
    assert "secret" not in message


@pytest.mark.parametrize("element", ["{}", "1", '{"revisions": [' + ",".join(["1"] * 1000) + "]}"])
def test_of_an_answer_with_very_many_elements_few_are_looked_at(element: str) -> None:
    body = '{"query": {"pages": [' + ",".join([element] * 1000) + "]}}"
    assert failure_of(body)[0] == "invalid_body"
    with pytest.raises(ValidationError) as caught:
        _Answer.model_validate_json(body)
    assert caught.value.error_count() == 1


@pytest.mark.parametrize(
    "body",
    [answer({"content": TEXT}, rev_id=5), json.dumps({"query": {"badrevids": {"5": {"revid": 5, "missing": True}}}})],
    ids=["page", "bad"],
)
def test_an_answer_to_another_question_is_an_outage(body: str) -> None:
    with pytest.raises(TryAgainError, match="of another revision") as caught:
        read(body)
    assert caught.value.of_upstream


@pytest.mark.parametrize(
    "body",
    ["", "<!DOCTYPE html>", "[]", "{}", GOOD[:-9], "[" * 100_000, '{"error": "no route"}', '{"error": {"info": "no"}}'],
    ids=lambda body: str(body[:20]),
)
def test_what_is_not_of_the_api_is_an_outage(body: str) -> None:
    with pytest.raises(TryAgainError, match=r"neither a query's answer nor error\.code") as caught:
        read(body)
    assert caught.value.of_upstream


@given(ANSWERS)
def test_any_answer_without_the_text_is_refused_in_order(document: object) -> None:
    with pytest.raises((FetchFailedError, TryAgainError)) as caught:
        read(json.dumps(document))
    assert len(str(caught.value)) < 500


def test_a_young_events_other_answers_mean_what_they_always_mean() -> None:
    assert read(GOOD, unknown_is_final=False) == TEXT
    with pytest.raises(FetchFailedError):
        read(refusal("badinteger"), unknown_is_final=False)


def test_maxlag_is_whole_seconds() -> None:
    assert Content.model_validate({"maxlag": "2m"}).maxlag == timedelta(minutes=2)
    with pytest.raises(ValueError, match="whole seconds"):
        Content.model_validate({"maxlag": "1500ms"})
