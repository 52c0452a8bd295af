"""What a job does with an event that deletes or hides: nothing by default, with the option all of it in its turn."""

import asyncio
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
from tests.unit.pipeline.jobs.conftest import bench, failed
from tests.unit.pipeline.making import make_event

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


HIDDEN = {"is_content_visible": False}


@pytest.mark.parametrize("kind", ["delete", "visibility_change"])
def test_without_the_option_records_are_as_ever(kind: str) -> None:
    record, _ = bench().output(make_event(kind, revision=HIDDEN))
    names = [name for name, _ in record.headers]
    assert names == ["source-topic", "source-partition", "source-offset", "source-event-id"]


@pytest.mark.parametrize(("kind", "removes"), [("delete", PAGE), ("visibility_change", REVISION)])
def test_what_is_hidden_is_removed_and_its_record_says_so(kind: str, removes: Suppression) -> None:
    made = bench()
    removed = with_removal(made)
    record, output = made.output(make_event(kind, revision=HIDDEN))
    assert removed.asked == [(removes, ORIGIN, 0)]
    assert said(record) == removes
    assert output["page_change_kind"] == kind
    assert made.client.asked == []


def test_of_a_hidden_comment_the_earlier_claim_check_goes_before_the_new_one_comes() -> None:
    made = bench(BOTH, **LARGE)
    removed = with_removal(made)
    record, _ = made.output(make_event("visibility_change", revision=NO_COMMENT))
    assert [(suppression, stored) for suppression, _, stored in removed.asked] == [(REVISION, 0)]
    assert len(made.claims.stored) == 1
    assert said(record) == REVISION
    assert b"claim-check-key" in b"".join(name.encode() for name, _ in record.headers)


@pytest.mark.parametrize(
    "event", [make_event("delete"), make_event(), make_event(revision=NO_COMMENT)], ids=["delete", "edit", "hidden"]
)
def test_nothing_is_done_to_the_store_before_the_turn(event: dict[str, Any]) -> None:
    made = bench(BOTH, **LARGE)
    removed = with_removal(made)
    assert isinstance(ahead(made, event), InTurn)
    assert (removed.asked, made.claims.stored) == ([], [])


def test_what_touches_no_store_does_not_wait() -> None:
    without_option, small = bench(BOTH, **LARGE), bench(BOTH)
    with_removal(small)
    assert isinstance(ahead(without_option, make_event()), Record)
    assert len(without_option.claims.stored) == 1
    assert isinstance(ahead(small, make_event()), Record)


def test_keys_name_the_revision_and_its_parent_and_the_object_says_by_which_event() -> None:
    made = bench(BOTH, **LARGE)
    made.output(make_event())
    assert made.claims.about == [PageRevision("enwiki", 7, LATEST, PARENT)]
    assert made.claims.origins == [ORIGIN]


SCRIPT = {"content_slots": {"main": {"slot_role": "main", "content_model": "javascript"}}}
COMMENT_HIDDEN = make_event("visibility_change", revision=NO_COMMENT)
FINAL, LATER = (failed("upstream_error", transient=transient) for transient in (False, True))


@pytest.mark.parametrize(
    ("answer", "event", "outcome", "removes"),
    [
        # The page was wikitext before it became a script.
        pytest.param(None, make_event("delete", revision=SCRIPT), type(None), [PAGE], id="filtered"),
        pytest.param(None, make_event("delete", meta={"domain": "canary"}), type(None), [], id="canary"),
        pytest.param(FINAL, COMMENT_HIDDEN, Record, [REVISION], id="cannot be fetched"),
        # The slow lane makes an error event of its last try by itself.
        pytest.param(LATER, COMMENT_HIDDEN, Unfinished, [REVISION], id="cannot be fetched yet"),
    ],
)
def test_what_an_event_without_an_output_removes(
    answer: Any, event: dict[str, Any], outcome: type, removes: list[Suppression]
) -> None:
    made = bench({LATEST: answer})
    removed = with_removal(made)
    assert isinstance(made.process(event), outcome)
    assert removed.suppressions == removes


def test_what_it_says_counts_towards_the_size() -> None:
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


def test_the_record_does_not_depend_on_what_was_there() -> None:
    """A batch that is repeated writes the same bytes, although it finds nothing any more to remove."""
    made = bench()
    with_removal(made)
    assert made.output(make_event("delete")) == made.output(make_event("delete"))
