"""What a job does with an event that deletes or hides: nothing by default, with the option all of it in its turn."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from pipeline.jobs.message import InTurn, Processed, SourceMessage, Unfinished
from pipeline.records.claim_key import PageRevision
from pipeline.records.claim_origin import ClaimOrigin
from pipeline.records.record import Position, Record
from pipeline.records.size import serialized_size
from pipeline.records.suppression import Suppression

MakeEvent = Callable[..., dict[str, Any]]
MakeBench = Callable[..., Any]
LATEST, PARENT = 7 * 4096 + 2, 7 * 4096 + 1
BOTH = {LATEST: "<p>new</p>", PARENT: "<p>old</p>"}
LARGE: dict[str, Any] = {"content_limit": {"max_bytes": 0}}
PAGE, REVISION = Suppression("enwiki", 7, None), Suppression("enwiki", 7, LATEST)
NO_COMMENT = {"is_comment_visible": False}
ORIGIN = ClaimOrigin.of(Position("source", 0, 5), datetime(2026, 3, 2, 9, tzinfo=UTC))


@dataclass
class Removed:
    """What was asked for; `stored` says how many claim checks there were then."""

    bench: Any = None
    asked: list[tuple[Suppression, ClaimOrigin, int]] = field(default_factory=list)

    async def remove(self, suppression: Suppression, origin: ClaimOrigin) -> None:
        self.asked.append((suppression, origin, len(self.bench.claims.stored)))

    @property
    def suppressions(self) -> list[Suppression]:
        return [suppression for suppression, _, _ in self.asked]


def with_removal(made: Any) -> Removed:
    made.removal = Removed(made)
    return made.removal  # type: ignore[no-any-return]


def ahead(made: Any, event: dict[str, Any]) -> Processed:
    """What is there before the event's turn."""
    message = SourceMessage(Position("source", 0, 5), b"page", orjson.dumps(event), datetime(2026, 3, 2, tzinfo=UTC))

    async def go() -> Processed:
        return await made.job().process(message, limit_s=1)  # type: ignore[no-any-return]

    return asyncio.run(go())


def said(record: Record) -> Suppression | None:
    return Suppression.of_headers(dict(record.headers))


@pytest.mark.parametrize("kind", ["delete", "visibility_change"])
def test_without_the_option_records_are_as_ever(bench: MakeBench, make_event: MakeEvent, kind: str) -> None:
    record, _ = bench().output(make_event(kind, revision={"is_content_visible": False}))
    assert [name for name, _ in record.headers] == [
        "source-topic",
        "source-partition",
        "source-offset",
        "source-event-id",
    ]


def test_a_delete_removes_and_its_record_says_so(bench: MakeBench, make_event: MakeEvent) -> None:
    made = bench()
    removed = with_removal(made)
    record, output = made.output(make_event("delete"))
    assert removed.asked == [(PAGE, ORIGIN, 0)]
    assert said(record) == PAGE
    assert output["page_change_kind"] == "delete"


def test_a_hidden_revision_likewise(bench: MakeBench, make_event: MakeEvent) -> None:
    made = bench()
    removed = with_removal(made)
    record, _ = made.output(make_event("visibility_change", revision={"is_content_visible": False}))
    assert removed.suppressions == [REVISION]
    assert said(record) == REVISION
    assert made.client.asked == []


def test_of_a_hidden_comment_the_earlier_claim_check_goes_before_the_new_one_comes(
    bench: MakeBench, make_event: MakeEvent
) -> None:
    made = bench(BOTH, **LARGE)
    removed = with_removal(made)
    record, _ = made.output(make_event("visibility_change", revision=NO_COMMENT))
    assert [(suppression, stored) for suppression, _, stored in removed.asked] == [(REVISION, 0)]
    assert len(made.claims.stored) == 1
    assert said(record) == REVISION
    assert b"claim-check-key" in b"".join(name.encode() for name, _ in record.headers)


def test_nothing_is_done_to_the_store_before_the_turn(bench: MakeBench, make_event: MakeEvent) -> None:
    made = bench(BOTH, **LARGE)
    removed = with_removal(made)
    for event in (make_event("delete"), make_event(), make_event(revision=NO_COMMENT)):
        assert isinstance(ahead(made, event), InTurn)
    assert removed.asked == []
    assert made.claims.stored == []


def test_without_the_option_a_claim_check_does_not_wait(bench: MakeBench, make_event: MakeEvent) -> None:
    made = bench(BOTH, **LARGE)
    assert isinstance(ahead(made, make_event()), Record)
    assert len(made.claims.stored) == 1


def test_other_events_have_nothing_to_wait_for(bench: MakeBench, make_event: MakeEvent) -> None:
    made = bench(BOTH)
    with_removal(made)
    assert isinstance(ahead(made, make_event()), Record)


def test_keys_name_the_revision_and_its_parent_and_the_object_says_by_which_event(
    bench: MakeBench, make_event: MakeEvent
) -> None:
    made = bench(BOTH, **LARGE)
    made.output(make_event())
    assert made.claims.about == [PageRevision("enwiki", 7, LATEST, PARENT)]
    assert made.claims.origins == [ORIGIN]


def test_an_event_that_is_filtered_removes_all_the_same(bench: MakeBench, make_event: MakeEvent) -> None:
    """The page was wikitext before it became a script."""
    made = bench()
    removed = with_removal(made)
    slots = {"content_slots": {"main": {"slot_role": "main", "content_model": "javascript"}}}
    assert made.process(make_event("delete", revision=slots)) is None
    assert removed.suppressions == [PAGE]


def test_a_canary_removes_nothing(bench: MakeBench, make_event: MakeEvent) -> None:
    made = bench()
    removed = with_removal(made)
    assert made.process(make_event("delete", meta={"domain": "canary"})) is None
    assert removed.asked == []


@pytest.mark.parametrize("transient", [True, False])
def test_an_event_that_cannot_be_fetched_removes_all_the_same(
    bench: MakeBench, make_event: MakeEvent, failed: Callable[..., Exception], transient: bool
) -> None:
    """The slow lane makes an error event of its last try by itself."""
    made = bench({LATEST: failed("upstream_error", transient=transient)})
    removed = with_removal(made)
    outcome = made.process(make_event("visibility_change", revision=NO_COMMENT))
    assert isinstance(outcome, Unfinished) == transient
    assert removed.suppressions == [REVISION]


def test_what_it_says_counts_towards_the_size(bench: MakeBench, make_event: MakeEvent) -> None:
    event = make_event("delete")
    made = bench()
    with_removal(made)
    record, _ = made.output(event)
    size = serialized_size(record.key, record.value, record.headers)
    for limit, topic in ((size, made.config.sink.topic), (size - 1, made.config.sink.error_topic)):
        limited = bench(sink={"max.request.size": limit})
        removed = with_removal(limited)
        assert limited.process(event).topic == topic
        assert removed.suppressions == [PAGE]


def test_the_record_does_not_depend_on_what_was_there(bench: MakeBench, make_event: MakeEvent) -> None:
    """A batch that is repeated writes the same bytes, although it finds nothing any more to remove."""
    made = bench()
    with_removal(made)
    assert made.output(make_event("delete")) == made.output(make_event("delete"))
