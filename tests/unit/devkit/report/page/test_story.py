from dataclasses import replace
from typing import Any, get_args

import pytest

from devkit.report.outcome import Outcome
from devkit.report.page.story import paragraph, verdict
from devkit.report.run_record import RunRecord
from tests.unit.devkit.report.conftest import STILL, result_of, with_arm_result, with_result

MOODS = {"good": "✓", "bad": "✗", "unknown": "?"}


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_every_outcome_has_a_headline_of_its_own(run: RunRecord, outcome: Outcome) -> None:
    found = verdict(with_result(run, outcome=outcome))
    assert found.headline.lower() == outcome
    assert found.meaning.endswith(".")
    assert MOODS[found.mood] == found.mark


@pytest.mark.parametrize(
    ("outcome", "mood"),
    [("reproduced and fixed", "good"), ("fix does not hold", "bad"), ("inconclusive", "unknown")],
)
def test_an_outcome_looks_as_good_as_its_exit_code(run: RunRecord, outcome: Outcome, mood: str) -> None:
    assert verdict(with_result(run, outcome=outcome)).mood == mood


@pytest.mark.parametrize(
    ("holding", "meaning"),
    [({"incident"}, "Neither proven nor refuted"), ({"incident", "fixed"}, "proves nothing")],
    ids=["a broken expectation", "all expectations hold"],
)
def test_an_inconclusive_run_says_what_is_known(run: RunRecord, holding: set[str], meaning: str) -> None:
    arms = {name: arm.model_copy(update={"holds": name in holding}) for name, arm in result_of(run).arms.items()}
    assert meaning in verdict(with_result(run, outcome="inconclusive", arms=arms)).meaning


def test_what_was_missing_and_what_to_do_are_told_apart(run: RunRecord) -> None:
    found = verdict(with_result(run, outcome="inconclusive", reasons=("fixed: the machine was short of time",)))
    assert found.missing == "fixed: the machine was short of time"
    assert found.next_step.startswith("next: ")


@pytest.mark.parametrize(
    ("broke_off", "exit_code", "reasons"),
    [("kafka ended", 3, ("kafka ended",)), (None, None, ())],
    ids=["it broke off", "it was killed"],
)
def test_a_run_without_a_verdict(
    run: RunRecord, broke_off: str | None, exit_code: int | None, reasons: tuple[str, ...]
) -> None:
    found = verdict(replace(run, result=None, broke_off=broke_off))
    assert (found.headline, found.exit_code, found.reasons) == ("No verdict", exit_code, reasons)


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
    well = {"amplification": 1.0, "abandoned_share": 0.0}
    for name, arm in result_of(run).arms.items():
        run = with_arm_result(run, name, figures=arm.figures.model_copy(update=well))
    assert "fetches" not in paragraph(run)


FAULTS = "Requests that the faults matched"


@pytest.mark.parametrize(
    ("evidence", "end"),
    [
        ({"fixed": None}, f"{FAULTS}: 'parser' 402, 'slow parsing' 64."),
        (
            {"incident": (STILL,), "fixed": ()},
            "ended after their client had disconnected. "
            "Fault 'still' in the incident arm (pause: {part: kafka}), from 8 to 13 s: it was silent.",
        ),
    ],
    ids=["of a single arm nothing is compared", "of a part, and none of the mock"],
)
def test_the_faults_are_told_last(run: RunRecord, evidence: dict[str, Any], end: str) -> None:
    of_run = result_of(run).fault_evidence
    given = {arm: of_run[arm] if faults is None else faults for arm, faults in evidence.items()}
    assert paragraph(with_result(run, fault_evidence=given)).endswith(end)


def test_without_a_result_the_arms_are_told_all_the_same(run: RunRecord) -> None:
    text = paragraph(replace(run, result=None, broke_off="kafka ended"))
    assert "restarted twice; it had committed" in text
    assert "fault" not in text


def test_without_arms_there_is_nothing_to_tell(run: RunRecord) -> None:
    assert paragraph(replace(run, arms={}, result=None, broke_off="kafka ended")) == ""
