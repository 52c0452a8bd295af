"""Which event a change of an entity is, against the schema and against what the job that reads it makes of it."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from devkit.event_bus.mock_feed import FeedEntry
from devkit.event_bus.page_change_event import event_id
from devkit.event_bus.wikibase_record import CHANGE_TOPICS, WIKIBASE_TOPICS, wikibase_canaries, wikibase_record
from pipeline.jobs.message import SourceMessage
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.records.record import Position
from pipeline.schemas import validator_of
from pipeline.updater.source_event import EntityPages, SourceEvent, parse_source_event

FEED, DOMAIN = "feed", "www.wikidata.org"
MADE, CHANGED = "2026-03-02T09:00:00Z", "2026-03-02T09:30:00.250Z"
CHANGED_MS = 1772443800250
USER = {"name": "Admin", "id": 1, "groups": ["*"]}
PAGE = {"page_id": 42, "namespace_id": 0, "title": "Q42", "content_model": "wikibase-item", "revision_count": 3}
REDIRECT = {**PAGE, "redirect": {"namespace_id": 0, "title": "Q5"}}


def revision(n: int, **more: Any) -> dict[str, Any]:
    made = {"rev_id": n, "parent_id": n - 1, "content_rev_id": n, "timestamp": MADE, "user": USER}
    return made | {"comment": "", "minor": False, "size": 3, "sha1": "1" * 40} | more


def entry(kind: str, **more: Any) -> FeedEntry:
    change = {"kind": kind, "wiki": "wikidatawiki", "domain": DOMAIN, "at": CHANGED, "request_id": "r"}
    change |= {"page": PAGE, "revision": revision(8), "performer": USER} | more
    return FeedEntry.model_validate({"n": 5, "epoch": 1, "change": change})


SUPPRESSED = {"reason": "gone", "before": revision(8), "revision": revision(8, hidden=["text"], suppressed=True)}
MOVED = {"reason": "", "before": revision(7), "place_before": {"namespace_id": 0, "title": "A"}}
CASES: dict[str, tuple[str, dict[str, Any], str, dict[str, Any]]] = {
    "create": ("create", {"revision": revision(8, parent_id=0)}, "revision-create", {"rev_parent_id": None}),
    "edit": ("edit", {"before": revision(7)}, "revision-create", {"rev_parent_id": 7, "dt": MADE}),
    "redirect": ("edit", {"page": REDIRECT}, "revision-create", {"page_is_redirect": True}),
    "move": ("move", MOVED, "revision-create", {"rev_timestamp": MADE}),
    "delete": ("delete", {"reason": "gone"}, "page-delete", {"comment": "gone", "rev_count": 3}),
    "suppressed deletion": ("delete", SUPPRESSED, "page-suppress", {"performer": None, "rev_count": 3}),
    "undelete": ("undelete", {"reason": "back"}, "page-undelete", {"comment": "back"}),
}


@pytest.mark.parametrize("case", CASES)
def test_each_kind_is_an_event_of_its_topic(case: str) -> None:
    kind, more, stream, expected = CASES[case]
    record = wikibase_record(FEED, entry(kind, **more))
    assert record is not None
    event = json.loads(record.value)
    require_valid(event)
    topic = f"eqiad.mediawiki.{stream}"
    assert (record.topic, record.key, record.timestamp_ms) == (
        topic,
        b'{"wiki_id":"wikidatawiki","page_id":42}',
        CHANGED_MS,
    )
    assert {name: event.get(name) for name in expected} == expected
    assert (event["page_title"], event["rev_id"]) == ("Q42", 8)
    meta = event["meta"]
    assert (meta["stream"], meta["id"]) == (f"mediawiki.{stream}", str(event_id(FEED, 5)))

    read = parsed(record.topic, record.value)
    assert read is not None
    action = "page-delete" if stream == "page-suppress" else stream
    assert (read.entity, read.action, read.rev, read.time_ms) == ("Q42", action, 8, CHANGED_MS)


def test_who_may_see_a_revision_is_no_event() -> None:
    hidden = {"before": revision(8), "revision": revision(8, hidden=["user"])}
    assert wikibase_record(FEED, entry("visibility", **hidden)) is None


def test_canaries_of_all_topics_have_one_time_and_are_of_no_entity() -> None:
    when = datetime(2026, 3, 2, 9, 30, 0, 250_999, tzinfo=UTC)
    canaries = list(wikibase_canaries(when))
    assert [canary.topic for canary in canaries] == list(WIKIBASE_TOPICS)
    for canary in canaries:
        event = json.loads(canary.value)
        require_valid(event)
        assert (canary.timestamp_ms, event["meta"]["dt"]) == (CHANGED_MS, CHANGED)
        assert parsed(canary.topic, canary.value) is None
    assert len({json.loads(canary.value)["meta"]["id"] for canary in canaries}) == len(canaries)


def test_the_job_reads_all_topics() -> None:
    sources = JOB_DEFAULTS["rdf-decide"].source_topics
    assert set(CHANGE_TOPICS) < set(WIKIBASE_TOPICS) < set(sources)
    assert {topic.rpartition(".")[2] for topic in set(sources) - set(WIKIBASE_TOPICS)} == {"reconcile"}


def require_valid(event: dict[str, Any]) -> None:
    validator = validator_of(event["$schema"])
    assert validator is not None
    validator.validate(event)


def parsed(topic: str, value: bytes) -> SourceEvent | None:
    message = SourceMessage(Position(topic, 0, 0), None, value, datetime(2026, 3, 2, 9, 30, tzinfo=UTC))
    return parse_source_event(message, EntityPages(DOMAIN))
