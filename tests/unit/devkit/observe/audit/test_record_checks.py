"""Content alone does not make a record its event's: its key says where it goes, and its id whether it is new."""

import uuid
from collections.abc import Callable
from dataclasses import replace

import orjson
import pytest

from devkit.observe.audit.arrivals import Arrival
from devkit.observe.audit.record_checks import schema_violation
from devkit.observe.audit.replays import Replays
from devkit.observe.audit.source_event import SourceEvent
from devkit.traffic.records import Fate
from tests.unit.devkit.observe.audit.audited import EDIT, FAILING, FIRST_TEN, audit, nonzero
from tests.unit.devkit.observe.audit.events import ERROR, OUTPUT, arrival, enriched, error_of, output_of, source_event

VALID = enriched(source_event(1))


@pytest.mark.parametrize(
    ("key", "key_text"),
    [(None, "it has no key; expected 'page 1'"), (b"page 2", "its key is 'page 2'; expected 'page 1'")],
)
def test_an_output_under_another_key_than_its_page(key: bytes | None, key_text: str) -> None:
    figures = audit([EDIT], replace(output_of(EDIT), key=key))
    assert nonzero(figures) == {"inputs": 1, "outputs": 1, "mismatched": 1, "mismatched_outputs": 1}
    assert figures.examples[0].endswith(key_text)


def test_an_error_event_under_another_key_than_its_page() -> None:
    figures = audit([FAILING], replace(error_of(FAILING), key=b"page 2"))
    assert nonzero(figures) == {"inputs": 1, "errors": 1, "mismatched": 1}
    assert figures.examples[0].endswith("its key is 'page 2'; expected 'page 1'")


@pytest.mark.parametrize(("length", "mismatched"), [(1024, 1), (1025, 0)])
def test_an_error_event_leaves_a_very_long_key_out(length: int, mismatched: int) -> None:
    event = replace(FAILING, key=b"k" * length)
    assert audit([event], replace(error_of(event), key=None)).mismatched == mismatched


def test_a_repeat_under_another_key_is_none() -> None:
    figures = audit([EDIT], output_of(EDIT), replace(output_of(EDIT, at=1), key=None))
    assert nonzero(figures) == {"inputs": 1, "outputs": 1, "conflicting": 1}


def with_id(event_of: int, output_id: str) -> Arrival:
    event = source_event(event_of, page=event_of)
    value = enriched(event)
    value["meta"]["id"] = str(uuid.uuid5(uuid.NAMESPACE_URL, output_id))
    return arrival(event, value, at=event_of)


def test_outputs_of_two_events_with_one_id() -> None:
    """A consumer knows a repeat by the id: it would throw the second event away."""
    events = [source_event(offset, page=offset) for offset in range(3)]
    figures = audit(events, with_id(0, "one"), with_id(1, "one"), with_id(2, "two"))
    assert nonzero(figures) == {"inputs": 3, "outputs": 3, "mismatched": 1, "mismatched_outputs": 1}
    assert figures.examples == (
        "mismatched: page 'X', event id-0-1, source page_change/0/1, record enriched/0/1: its meta.id is that of the "
        "output of page 'X', event id-0-0, source page_change/0/0, so a consumer takes it for a repeat",
    )


def test_error_events_of_two_events_with_one_id() -> None:
    events = [source_event(offset, fate="error", reason="malformed_json", page=offset) for offset in range(2)]
    value = {"error_type": "malformed_json", "message": "no", "meta": {"id": "one"}}
    figures = audit(events, *(arrival(event, value, at=at, topic=ERROR) for at, event in enumerate(events)))
    assert nonzero(figures) == {"inputs": 2, "errors": 2, "mismatched": 1}
    assert figures.examples[0].endswith(
        "its meta.id is that of the error event of event id-0-0, source page_change/0/0, so a consumer takes it for a "
        "repeat"
    )


@pytest.mark.parametrize(
    ("named", "shown"), [(None, None), (b"id-0-3", None), (b"id-0-4", "'id-0-4'"), (b"", "''"), (b"\xff", "'\ufffd'")]
)
@pytest.mark.parametrize(("fate", "made"), [("output", output_of), ("error", error_of)])
def test_a_record_that_names_another_event(
    fate: Fate, made: Callable[[SourceEvent], Arrival], named: bytes | None, shown: str | None
) -> None:
    """A consumer relates an output with an error event by that; a record that names none is known by its position."""
    event = source_event(3, fate=fate, reason="revision_not_found" if fate == "error" else None)
    record = made(event)
    headers = {} if named is None else {"source-event-id": named}
    figures = audit([event], replace(record, headers=record.headers | headers))
    assert figures.mismatched == (shown is not None)
    if shown:
        assert figures.examples[0].endswith(f"its source-event-id is {shown}; expected id-0-3")


@pytest.mark.parametrize("grown", [(), (OUTPUT, ERROR)], ids=["a topic that stays", "one that grows meanwhile"])
def test_a_page_in_two_partitions(grown: tuple[str, ...]) -> None:
    """A consumer has an order within a partition only, whatever the times of the records are."""
    events = [source_event(offset, page=page) for offset, page in enumerate((1, 1, 2))]
    events += [source_event(offset, fate="error", reason="malformed_json") for offset in (3, 4)]
    records = [replace(output_of(event, at=at), partition=at) for at, event in enumerate(events[:3])]
    records += [replace(error_of(event, at=at), partition=at) for at, event in enumerate(events[3:])]
    figures = audit(events, *records, grown=grown)
    found = {} if grown else {"mismatched": 2, "mismatched_outputs": 1}
    assert nonzero(figures) == {"inputs": 5, "outputs": 3, "errors": 2, **found}
    if not grown:
        assert "record enriched/1/1: its page has records in partition 0 too" in figures.examples[0]
        assert "record enrich.error/1/1: its page has records in partition 0 too" in figures.examples[1]


@pytest.mark.parametrize("grown", [(), (OUTPUT, ERROR)], ids=["a topic that stays", "one that grows meanwhile"])
def test_a_repeat_in_another_partition_is_wrong_however_often_it_may_repeat(grown: tuple[str, ...]) -> None:
    records = [replace(one, partition=n) for one in (output_of(EDIT), error_of(FAILING)) for n in (0, 1)]
    figures = audit([EDIT, FAILING], *records, grown=grown, replays=Replays(1, (FIRST_TEN,)))
    assert (figures.duplicated, figures.excused) == (2, 2)
    assert figures.problems() == ({} if grown else {"mismatched": 2})
    assert figures.mismatched_outputs == (0 if grown else 1)
    if not grown:
        assert "record enriched/1/0: its event has a record in partition 0 too" in figures.examples[0]


def test_a_repeat_without_a_key_may_lie_anywhere() -> None:
    event = replace(FAILING, key=b"k" * 2000)
    first = replace(error_of(event), key=None)
    figures = audit([event], first, replace(first, partition=1), replays=Replays(1, (FIRST_TEN,)))
    assert figures.problems() == {}


@pytest.mark.parametrize(("page", "revision", "mismatched"), [(0, 20, 0), (1, 20, 1), (0, 30, 1)])
def test_a_producer_that_gives_one_id_to_two_events(page: int, revision: int, mismatched: int) -> None:
    """Sent twice it is one event; of another page or revision it is another one, which a consumer throws away."""
    first, second = source_event(0, page=0, event_id="one"), source_event(1, page=page, latest=revision, event_id="one")
    one_id = str(uuid.uuid5(uuid.NAMESPACE_URL, "one"))
    outputs = [enriched(event) for event in (first, second)]
    for value in outputs:
        value["meta"]["id"] = one_id
    figures = audit([first, second], arrival(first, outputs[0]), arrival(second, outputs[1], at=1))
    assert figures.mismatched == mismatched


def test_the_same_event_at_two_positions_may_have_one_id() -> None:
    """As an operator's replay makes it."""
    first, again = source_event(0), replace(source_event(1), value=source_event(0).value)
    value = enriched(first)
    assert audit([first, again], arrival(first, value), arrival(again, value, at=1)).mismatched == 0


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"wiki_id": 7}, "wiki_id"),
        ({"html_diff": {"base_rev_id": 10, "format": "json", "body": ""}}, "html_diff/format"),
        ({"html_diff": {"base_rev_id": 10, "format": "unified"}}, "html_diff"),
        ({"meta": {"stream": "s", "id": "no uuid", "dt": "2026-06-01T00:00:00Z"}}, "meta/id"),
        ({"$schema": "/error/2.1.0"}, "(top)"),
        ({"$schema": "/mediawiki/page/change/1.2.0"}, "(top)"),
    ],
)
def test_what_is_not_as_its_schema_says(changes: dict[str, object], place: str) -> None:
    wrong = schema_violation(orjson.dumps(VALID | changes)) or ""
    assert wrong.startswith(f"not valid by {(VALID | changes)['$schema']} at {place}: ")
    assert schema_violation(orjson.dumps(VALID)) is None


def test_a_schema_that_the_producer_does_not_state_is_not_judged() -> None:
    assert schema_violation(orjson.dumps({"$schema": "/acme/links/1.0.0", "meta": 7})) is None
    assert schema_violation(b"[]") is None
    assert (schema_violation(b"{") or "").startswith("not JSON: ")
