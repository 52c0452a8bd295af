import json
from pathlib import Path

from devkit.observe.audit.audit import DeliveryAudit
from devkit.observe.audit.wrong_outcomes import WrongOutcome, write_wrong_outcomes
from tests.unit.devkit.observe.audit.audited import ALL, CANARY, EDIT, FAILING, no_store
from tests.unit.devkit.observe.audit.events import SOURCE, TRUTH, error_of, output_of, source_event


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
