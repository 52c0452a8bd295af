from pathlib import Path
from typing import Any, get_args

import pytest

from devkit.observe.arm_observation import TimelineEvidence
from devkit.report.outcome import Outcome
from devkit.report.page.story import paragraph, verdict
from devkit.report.run_record import RunRecord, read_run
from tests.unit.devkit.report import storm


@pytest.fixture
def run(tmp_path: Path) -> RunRecord:
    return read_run(storm.write_run(tmp_path))


def changed(run: RunRecord, **changes: Any) -> RunRecord:
    assert run.result is not None
    return RunRecord(run.directory, run.metadata, run.arms, run.result.model_copy(update=changes), None)


def unfinished(run: RunRecord, broke_off: str | None) -> RunRecord:
    return RunRecord(run.directory, run.metadata, run.arms, None, broke_off)


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_every_outcome_has_a_headline_of_its_own(run: RunRecord, outcome: Outcome) -> None:
    found = verdict(changed(run, outcome=outcome))
    assert found.headline.lower() == outcome
    assert found.meaning.endswith(".")
    assert {"good": "✓", "bad": "✗", "unknown": "?"}[found.mood] == found.mark


def test_an_outcome_looks_as_good_as_its_exit_code(run: RunRecord) -> None:
    assert verdict(changed(run, outcome="reproduced and fixed")).mood == "good"
    assert verdict(changed(run, outcome="fix does not hold")).mood == "bad"
    assert verdict(changed(run, outcome="inconclusive")).mood == "unknown"


def test_an_inconclusive_run_with_broken_expectations_does_not_say_that_nothing_is_known(run: RunRecord) -> None:
    assert run.result is not None
    broken = {name: arm.model_copy(update={"holds": name == "incident"}) for name, arm in run.result.arms.items()}
    assert "Neither proven nor refuted" in verdict(changed(run, outcome="inconclusive", arms=broken)).meaning
    holding = {name: arm.model_copy(update={"holds": True}) for name, arm in run.result.arms.items()}
    assert "proves nothing" in verdict(changed(run, outcome="inconclusive", arms=holding)).meaning


def test_what_was_missing_and_what_to_do_are_told_apart(run: RunRecord) -> None:
    found = verdict(changed(run, outcome="inconclusive", reasons=("fixed: the machine was short of time",)))
    assert found.missing == "fixed: the machine was short of time"
    assert found.next_step.startswith("next: ")


def test_a_run_that_broke_off(run: RunRecord) -> None:
    found = verdict(unfinished(run, "kafka ended"))
    assert (found.headline, found.exit_code, found.reasons) == ("No verdict", 3, ("kafka ended",))


def test_a_run_that_was_killed(run: RunRecord) -> None:
    found = verdict(unfinished(run, None))
    assert (found.headline, found.exit_code, found.reasons) == ("No verdict", None, ())


def test_what_happened_in_one_paragraph(run: RunRecord) -> None:
    committed = run.arms["incident"].samples[-1].committed
    assert paragraph(run) == (
        "With the incident's configuration the pipeline was restarted twice and read 100 offsets again; it had "
        f"committed {committed} of 200 events when the arm ended after 44 s (restarts 2), and 60 ended as output, "
        "2 as error events, 4 were filtered. It made 812 requests for 226 fetches, and 71 % of the upstream's parses "
        "ended after their client had disconnected. With the fix the pipeline was never restarted; it had committed "
        "200 of 200 events when the arm ended after 36 s (drained), and 188 ended as output, 4 as error events, 8 were "
        "filtered. It made 812 requests for 226 fetches, and 5 % of the upstream's parses ended after their client had "
        "disconnected. "
        "Requests that the faults matched in the incident and the fixed arm: 'parser' 812 and 402, "
        "'slow parsing' 72 and 64."
    )


def test_an_upstream_that_was_well_is_not_talked_about(run: RunRecord) -> None:
    assert run.result is not None
    arms = {}
    for name, arm in run.result.arms.items():
        figures = arm.figures.model_copy(update={"amplification": 1.0, "abandoned_share": 0.0})
        arms[name] = arm.model_copy(update={"figures": figures})
    assert "fetches" not in paragraph(changed(run, arms=arms))


def test_a_single_arm_is_not_compared(run: RunRecord) -> None:
    assert run.result is not None
    found = changed(run, fault_evidence={"fixed": run.result.fault_evidence["fixed"]})
    assert paragraph(found).endswith("Requests that the faults matched: 'parser' 402, 'slow parsing' 64.")


def test_without_a_result_the_arms_are_told_all_the_same(run: RunRecord) -> None:
    text = paragraph(unfinished(run, "kafka ended"))
    assert "restarted twice; it had committed" in text
    assert "fault" not in text


def test_without_arms_there_is_nothing_to_tell(run: RunRecord) -> None:
    assert paragraph(RunRecord(run.directory, run.metadata, {}, None, "kafka ended")) == ""


def test_a_fault_of_the_timeline_is_told_beside_those_of_the_mock(run: RunRecord) -> None:
    still = TimelineEvidence(
        fault="still", fired=True, asked="pause: {part: kafka}", acted=True, did="it was silent", from_s=8, to_s=13
    )
    text = paragraph(changed(run, fault_evidence={"incident": (still,), "fixed": ()}))
    assert text.endswith("Fault 'still' in the incident arm (pause: {part: kafka}), from 8 to 13 s: it was silent.")
    assert "Requests that the faults matched" not in text
