"""What a person is told of problems: examples of them, their events, and a file of all."""

import json
from pathlib import Path

import orjson
import pytest

from devkit.observe.audit.audit import DeliveryAudit
from devkit.observe.audit.examples import MOST, Examples, error_text
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.audit.wrong_outcomes import WrongOutcome, write_wrong_outcomes
from devkit.traffic.manifest import ManifestEntry
from devkit.traffic.records import Expected, PageRef
from tests.unit.devkit.observe.audit.audited import ALL, CANARY, EDIT, FAILING, no_store
from tests.unit.devkit.observe.audit.events import ERROR, SOURCE, TRUTH, arrival, error_of, output_of, source_event


def test_one_of_each_problem_before_the_second_of_any_the_worst_first() -> None:
    examples = Examples()
    for number in range(50):
        examples.add("mismatched", f"event {number}", "payload hash differs")
    examples.add("lost", "event x", "never emitted")
    found = examples.all()
    assert len(found) == MOST
    assert found[:2] == ("lost: event x: never emitted", "mismatched: event 0: payload hash differs")


def test_a_copy_is_its_own() -> None:
    examples = Examples()
    examples.copy().add("lost", "x", "y", ("t", 0, 1))
    assert (examples.all(), examples.events()) == ((), ())


def test_all_events_are_kept_each_problem_once() -> None:
    examples = Examples()
    for number in (*range(9), 3):
        examples.add("conflicting", f"event {number}", "other content", ("t", 0, number))
    examples.add("unattributed", "a record", "its headers name no source")
    examples.add("lost", "event x", "never emitted", ("t", 1, 0))
    assert examples.events() == (("lost", ("t", 1, 0)), *(("conflicting", ("t", 0, number)) for number in range(9)))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b'{"error_type": "timeout", "message": "no answer"}', "timeout: no answer"),
        (b'{"exception_msg": "status 404", "exception_type": "gone"}', "gone: status 404"),
        (b"\xff\x00\x1b[31m", "7 bytes that are no JSON object"),
        (b"[1]", "3 bytes that are no JSON object"),
        (b"{}", "no error_type"),
        (b'{"error_type": "a\\u001bb"}', "a?b"),
    ],
)
def test_an_error_event_in_words_and_never_its_bytes(value: bytes, text: str) -> None:
    assert error_text(arrival(None, value, topic=ERROR)) == text


def test_a_long_message_is_cut() -> None:
    assert len(error_text(arrival(None, {"message": "x" * 5000}, topic=ERROR))) == 200


NAMED = Expected(fate="output", event_id="0b9e", page=PageRef(wiki="enwiki", page_id=3, title="Main_Page"))
EXPECTED_ERROR = Expected(fate="error", reason="schema_violation")


@pytest.mark.parametrize(
    ("value", "expected", "name"),
    [
        (b"", NAMED, "page 'Main Page', event 0b9e, source t/0/17"),
        # What the manifest does not say is read from its bytes.
        (
            orjson.dumps({"meta": {"id": "0b9e"}, "page": {"page_title": "Gone"}}),
            EXPECTED_ERROR,
            "page 'Gone', event 0b9e, source t/0/17",
        ),
        *((value, EXPECTED_ERROR, "source t/0/17") for value in (b"", b"\xff", b"[]", b"{}")),
        (b'{"meta": 7, "page": {"page_title": 7}}', EXPECTED_ERROR, "source t/0/17"),
    ],
)
def test_an_event_is_called_by_its_page_its_id_and_its_place(value: bytes, expected: Expected, name: str) -> None:
    entry = ManifestEntry(topic="t", partition=0, offset=17, expected=expected)
    assert SourceEvent(entry, b"", value).name == name


def test_where_all_met_their_fate_there_is_no_file(tmp_path: Path) -> None:
    write_wrong_outcomes((), tmp_path / "audit.jsonl")
    assert not (tmp_path / "audit.jsonl").exists()


def test_without_a_truth_no_event_has_a_fate_to_meet() -> None:
    found: list[WrongOutcome] = []
    held = DeliveryAudit([EDIT], truth=None, resolve=no_store)
    assert held.finish(ALL, report_problem=lambda *outcome: found.append(outcome)).lost == 1
    assert found == []


def test_each_event_that_did_not_meet_its_fate_is_a_line(tmp_path: Path) -> None:
    lost = [source_event(offset) for offset in range(20, 30)]
    held = DeliveryAudit([EDIT, FAILING, CANARY, *lost], truth=TRUTH, resolve=no_store)
    held.add_output(output_of(EDIT))
    held.add_output(output_of(EDIT, at=1))
    held.add_output(output_of(CANARY, at=2))
    held.add_error(error_of(FAILING))
    found: list[WrongOutcome] = []
    audit = held.finish(ALL, report_problem=lambda *outcome: found.append(outcome))
    assert audit.problems() == {"lost": 10, "misrouted": 1, "duplicated": 1}
    write_wrong_outcomes(found, tmp_path / "audit.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    place = {"topic": SOURCE, "partition": 0, "offset": 20}
    assert lines[0] == {"problem": "lost", **place, "event": lost[0].event_id, "page": lost[0].page}
    ends = [(line["problem"], line["offset"]) for line in lines]
    misrouted, duplicated = ("misrouted", CANARY.entry.offset), ("duplicated", EDIT.entry.offset)
    assert ends == [*(("lost", event.entry.offset) for event in lost), misrouted, duplicated]
