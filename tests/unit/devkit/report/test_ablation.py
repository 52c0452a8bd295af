import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from devkit.report.ablation import AblatedDifference, Ablation, ablation_lines
from devkit.report.expectation_result import ExpectationResult
from devkit.report.junit import junit_xml
from devkit.report.page.page import render_page
from devkit.report.result import Result
from devkit.report.run_record import RunRecord
from devkit.report.run_reports import RunReports
from devkit.report.summary import summary_markdown
from tests.unit.devkit.report import storm
from tests.unit.devkit.report.conftest import expectation


def restarts(count: int) -> ExpectationResult:
    return expectation("restarts", "0", str(count), not count)


DRAINED = expectation("drained", "true", "committed 161 of 161", True)
YES = AblatedDifference(
    difference="record_limit.policy",
    incident="none",
    fixed="serialized",
    needed="yes",
    outcome="fixed arm does not hold",
    expectations=(restarts(2), DRAINED),
    directory="ablation/1-record_limit.policy",
)
NO = AblatedDifference(
    difference="batch.max_offsets",
    incident=None,
    fixed=50,
    needed="no",
    outcome="fixed arm holds",
    expectations=(restarts(0), DRAINED),
    directory="ablation/2-batch.max_offsets",
)
UNCLEAR = AblatedDifference(
    difference="fetch.deadline",
    incident="9s",
    fixed="1s",
    reason="the machine was too slow",
    next_step="`devkit scenario run a-storm --ablate --stretch 2`",
)


def of(*differences: AblatedDifference) -> Ablation:
    return Ablation(arm="fixed", against="incident", as_played=(restarts(0), DRAINED), differences=differences)


def test_as_text() -> None:
    assert list(ablation_lines(of(YES, NO, UNCLEAR), Path("runs/a"))) == [
        "",
        "what fixed needs of its differences from incident:",
        "  difference           fixed       turned back to  without it               needed",
        "  record_limit.policy  serialized  none            fixed arm does not hold  yes",
        "  batch.max_offsets    50          not set         fixed arm holds          no",
        "  fetch.deadline       1s          9s              not played               unclear",
        "",
        "without record_limit.policy:",
        "  FAIL restarts: 2 (expected 0)",
        "  evidence: runs/a/ablation/1-record_limit.policy",
        "without batch.max_offsets:",
        "  ok   restarts: 0 (expected 0)",
        "  evidence: runs/a/ablation/2-batch.max_offsets",
        "without fetch.deadline:",
        "  the machine was too slow",
        "  next: `devkit scenario run a-storm --ablate --stretch 2`",
        "",
        "The fix needs record_limit.policy. It holds without batch.max_offsets. Not known of fetch.deadline.",
    ]


def test_where_no_expectation_tells_the_plays_apart_all_are_shown() -> None:
    assert of(NO).broken_in_a_play(NO.expectations) == NO.expectations
    assert of(NO, YES).broken_in_a_play(NO.expectations) == (restarts(0),)


def test_two_that_do_the_same_are_told() -> None:
    other = NO.model_copy(update={"difference": "fetch.deadline"})
    assert of(NO, other).conclusion == (
        "It holds without batch.max_offsets and fetch.deadline, each by itself. "
        "So two or more of them do the same: leave one out of the file and ask again."
    )
    assert not any("do the same" in ablation.conclusion for ablation in (of(NO), of(NO, YES)))


@pytest.mark.parametrize(("differences", "code"), [((YES, NO), 0), ((YES, UNCLEAR), 3)], ids=["known", "unclear"])
def test_the_exit_code_says_whether_all_is_known(differences: tuple[AblatedDifference, ...], code: int) -> None:
    assert of(*differences).exit_code == code


def ablated() -> Result:
    return storm.result().model_copy(update={"ablation": of(YES, NO, UNCLEAR)})


def test_the_result_has_it_and_can_be_read_again() -> None:
    assert Result.model_validate_json(ablated().model_dump_json()) == ablated()


def test_the_page_has_a_row_for_each_with_what_was_measured(run: RunRecord) -> None:
    page = render_page(replace(run, result=ablated()))
    (section,) = re.findall(r'<section aria-labelledby="ablation">.*?</section>', page, re.DOTALL)
    head, *rows = re.findall(r'<tr role="row".*?</tr>', section, re.DOTALL)
    assert re.findall(r'role="columnheader">([^<]*)', head) == [
        *("turned back", "needed", "from, to", "outcome", "measured")
    ]
    plain = [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in rows]
    assert plain == [
        "nothing the run itself ✓ restarts 0 expected 0",
        "record_ limit. policy ● yes serialized → none fixed arm does not hold ✗ restarts 2 expected 0",
        "batch. max_ offsets ○ no 50 → not set fixed arm holds ✓ restarts 0 expected 0",
        "fetch. deadline ? unclear 1s → 9s not played the machine was too slow "
        "next: devkit scenario run a-storm --ablate --stretch 2",
    ]
    assert all(row.count("data-label") == 4 for row in rows)
    assert 'href="ablation/1-record_limit.policy/report.html"' in section
    assert "The fix needs record_limit.policy." in section


def test_junit_has_a_case_for_each_and_an_error_where_it_is_not_known() -> None:
    root = ET.fromstring(junit_xml(storm.metadata(), storm.result().arms, result=ablated()).encode())
    (suite,) = root.findall("testsuite[@name='a-storm.ablation']")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "0", "1")
    assert [case.get("name") for case in suite] == [
        *("fixed without record_limit.policy", "fixed without batch.max_offsets", "fixed without fetch.deadline")
    ]
    text = suite[0].findtext("system-out")
    assert text is not None
    first, *others = text.splitlines()
    assert first == "needed: yes"
    assert others == ["turned back: serialized → none", "fixed arm does not hold", "FAIL  restarts: 2 (expected 0)"]
    error = suite[2].find("error")
    assert error is not None
    assert error.get("message") == "not known whether the fix needs it: the machine was too slow"
    assert root.get("errors") == "1"


def test_the_summary_has_a_row_for_each() -> None:
    text = summary_markdown(ablated(), Path("runs/x"))
    assert "**What fixed needs** of its differences from incident. The fix needs record\\_limit.policy." in text
    row = "| yes | `record_limit.policy` | `serialized → none` | fixed arm does not hold"
    assert f"{row} | ❌ FAIL restarts: 2 (expected 0) |" in text
    assert "| ❔ unclear | `fetch.deadline` | `1s → 9s` | not played | the machine was too slow |" in text


def test_a_jobs_page_gets_it_once_and_after_the_verdict(tmp_path: Path) -> None:
    run, page = storm.write_run(tmp_path / "run"), tmp_path / "job.md"
    reports = RunReports(run, storm.metadata(), say=pytest.fail, environment={"GITHUB_STEP_SUMMARY": str(page)})
    reports.finish(storm.result())
    reports.ablated(ablated(), is_over=False)
    reports.ablated(ablated(), is_over=True)
    text = page.read_text()
    assert text.count("## ✅ a-storm") == 1
    assert text.count("**What fixed needs**") == 1
    assert (run / "summary.md").read_text().count("**What fixed needs**") == 1
    assert "The fix needs record_limit.policy." in (run / "junit.xml").read_text()
