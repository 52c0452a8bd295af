"""A run of three arms in each report: the recorded storm with a second fix, played after the first."""

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from devkit.observe.arm_role import Roles
from devkit.report.junit import junit_xml
from devkit.report.page.page import render_page
from devkit.report.result import CauseResult, Result
from devkit.report.run_record import RunRecord, read_run
from devkit.report.summary import summary_markdown
from devkit.report.verdict_lines import verdict_lines
from tests.unit.devkit.report import storm

THREE: Roles = {"incident": "incident", "fixed": "fixed", "budget-alone": "fixed"}


def result() -> Result:
    two = storm.result()
    third = {"budget-alone": two.arms["fixed"]}
    difference = {key: values | {"budget-alone": values["fixed"]} for key, values in two.config_difference.items()}
    difference["deferral.policy"]["budget-alone"] = "none"
    return two.model_copy(
        update={
            "arms": two.arms | third,
            "fault_evidence": two.fault_evidence | {"budget-alone": two.fault_evidence["fixed"]},
            "roles": THREE,
            "config_difference": difference,
        }
    )


@pytest.fixture
def run(tmp_path: Path) -> RunRecord:
    again = [
        line | {"arm": "budget-alone", "t_s": line["t_s"] + 60} for line in storm.lines() if line.get("arm") == "fixed"
    ]
    directory = storm.write_run(tmp_path, extra=tuple(again))
    timeline = directory / "events.jsonl"
    first, *rest = timeline.read_text().splitlines()
    metadata = json.loads(first) | {"arms": list(THREE), "roles": dict(THREE)}
    metadata["config_difference"] = result().config_difference
    timeline.write_text("\n".join([json.dumps(metadata), *rest]) + "\n")
    (directory / "result.json").write_text(result().model_dump_json())
    return read_run(directory)


def test_the_page_has_each_arm_in_the_colour_of_its_role(run: RunRecord) -> None:
    page = render_page(run)
    assert '<span class="arm-name fixed">budget-alone</span>' in page
    assert page.count('<figure class="incident">') * 2 == page.count('<figure class="fixed">') > 0
    assert "All else is the same in all:" in page
    assert "In the arm budget-alone the pipeline was never restarted" in page
    assert "With the incident&#39;s configuration the pipeline was restarted twice" in page


def test_where_no_arm_had_a_fault_that_is_said_once(run: RunRecord) -> None:
    assert run.result is not None
    without = run.result.model_copy(update={"fault_evidence": dict.fromkeys(THREE, ())})
    page = render_page(replace(run, result=without))
    assert page.count("No fault was injected") == 1
    assert "No fault was injected in any arm." in page


def test_one_event_is_told_of_as_one(run: RunRecord) -> None:
    arm = result().arms["budget-alone"]
    audit = arm.audit.model_copy(update={"errors": 1, "filtered": 1, "lost": 2})
    changed = result().model_copy(
        update={"arms": result().arms | {"budget-alone": arm.model_copy(update={"audit": audit})}}
    )
    text = f"{audit.outputs} ended as output, 1 as an error event, 1 was filtered, 2 were lost."
    assert text in render_page(replace(run, result=changed))


def test_the_table_of_differences_has_a_column_for_each(run: RunRecord) -> None:
    table = re.search(r'<table class="figures keys">.*?</table>', render_page(run), re.DOTALL)
    assert table is not None
    cells = [re.findall(r"<t[hd][ >]", row) for row in re.findall(r"<tr>.*?</tr>", table[0], re.DOTALL)]
    assert {len(row) for row in cells} == {4}


def test_the_terminal_tells_all_three_and_groups_what_is_alike() -> None:
    lines = list(verdict_lines(result(), Path("runs/x")))
    assert [line.split()[0] for line in lines if " arm holds (" in line] == list(THREE)
    assert "  deferral.policy: none (incident) → defer (fixed), none (budget-alone)" in lines
    assert any(line.endswith("(fixed, budget-alone)") for line in lines)


def test_the_summary_has_a_column_for_each() -> None:
    text = summary_markdown(result(), Path("runs/x"))
    assert "| configuration | incident | fixed | budget-alone |" in text
    assert "| `deferral.policy` | `none` | `defer` | `none` |" in text


def test_a_named_cause_is_told_in_each_report(run: RunRecord) -> None:
    cause = (
        CauseResult(cause="fault 'parser'", shown=True, did="it acted in incident"),
        CauseResult(
            cause="differs deferral.policy", shown=False, did="the program of fixed did not confirm it in its log"
        ),
    )
    found = result().model_copy(update={"cause": cause, "also_differs": ("fetch.deadline",)})
    lines = list(verdict_lines(found, Path("runs/x")))
    assert [one.status for one in cause] == ["present", "not shown"]
    assert any(line.startswith("cause: a run shows that it is present and acts, not that it makes") for line in lines)
    assert "  present fault 'parser': it acted in incident" in lines
    assert any(line.startswith("  NOT SHOWN differs deferral.policy: the program of fixed") for line in lines)
    summary = summary_markdown(found, Path("runs/x"))
    assert "| present | fault 'parser' | it acted in incident |" in summary
    assert "| ❌ not shown | differs deferral.policy | the program of fixed did not" in summary
    assert "**Cause**: a run shows that it is present and acts, not that it makes the incident" in summary
    page = render_page(replace(run, result=found))
    assert "What the scenario names as the cause of the incident: a run shows that it is present and acts" in page
    assert "✓ present" in page
    assert "✗ NOT SHOWN" in page
    for text in ("also differs: fetch.deadline", "--ablate --arm incident --arm fixed"):
        assert text in page
        assert any(text in line for line in lines)


@pytest.mark.parametrize(
    ("played", "hoped_for"),
    [(tuple(THREE), "reproduced and fixed"), (("fixed", "budget-alone"), "fixed arm holds")],
)
def test_junit_has_a_suite_for_each(played: tuple[str, ...], hoped_for: str) -> None:
    metadata = storm.metadata().model_copy(update={"arms": played, "roles": THREE})
    arms = {arm: one for arm, one in result().arms.items() if arm in played}
    root = ET.fromstring(junit_xml(metadata, arms, result=result()).encode())
    assert [suite.get("name") for suite in root] == [f"a-storm.{name}" for name in (*played, "verdict")]
    assert [case.get("name") for case in root[-1].findall("testcase")] == [hoped_for]


def test_a_result_of_two_arms_that_says_no_roles_has_theirs() -> None:
    written = json.loads(storm.result().model_dump_json(exclude={"roles"}))
    assert Result.model_validate(written).roles == {"incident": "incident", "fixed": "fixed"}
