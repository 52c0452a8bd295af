import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from devkit.observe.arm_observation import TimelineEvidence
from devkit.observe.logs.first_errors import Complaint
from devkit.observe.settings import ChangedValue
from devkit.report.explanation import difference
from devkit.report.junit import junit_xml
from devkit.report.result import ArmResult, Result
from devkit.report.summary import broke_off_markdown, summary_markdown
from tests.unit.devkit.report import storm
from tests.unit.devkit.report.conftest import LOST, STILL, a_program, expectation, with_arm

DIRECTORY = Path("runs/a-storm/20261121T100000Z")
ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "disabled", "errors"},
    "testsuite": {
        *("name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id"),
        *("package", "file", "log", "url", "version"),
    },
    "properties": set[str](),
    "property": {"name", "value"},
    "testcase": {"name", "time", "classname", "group"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"type", "message"},
    "system-out": set[str](),
}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"failure", "error", "skipped", "system-out"},
}
REQUIRED = {"testsuite": {"name", "tests"}, "testcase": {"name"}, "property": {"name", "value"}}


def of(result: Result) -> str:
    return summary_markdown(result, DIRECTORY)


def with_measured(text: str) -> str:
    return of(with_arm(storm.result(), expectations=(expectation("audit", "clean", text, False),)))


def test_what_it_says() -> None:
    text = of(storm.result())
    assert text.startswith("## ✅ a-storm: reproduced and fixed\n")
    assert "(seed 7, 92s, exit code 0)" in text
    assert "**incident arm** holds (44.0s, ended by: restarts 2)" in text
    assert "| ✅ ok | amplification | at least 2.5 | 3.6: 812 requests for 226 fetches |" in text
    assert "| `deferral.policy` | `none` | `defer` |" in text
    assert "| slow parsing | fixed | matched 64 requests | yes |" in text
    assert "Repeat: `devkit scenario run a-storm --seed 7`" in text
    assert "`runs/a-storm/20261121T100000Z`" in text


@pytest.mark.parametrize(
    ("outcome", "exit_code", "mark"),
    [("fix does not hold", 1, "❌"), ("not reproduced", 1, "❌"), ("inconclusive", 3, "❔")],
)
def test_another_outcome(outcome: str, exit_code: int, mark: str) -> None:
    changes = {"outcome": outcome, "exit_code": exit_code, "reasons": ("fixed: lost 2",)}
    text = of(with_arm(storm.result(), expectations=(LOST,), holds=False).model_copy(update=changes))
    assert text.startswith(f"## {mark} a-storm: {outcome}")
    parts = ["**broken expectations**", "- fixed: audit: expected clean", "**configuration difference**", "Repeat: "]
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    assert text.count("Repeat: ") == 1


def test_each_of_several_programs_is_named() -> None:
    text = of(with_arm(storm.result(), programs=(a_program(restarts=1, exit_codes=(3,)),)))
    assert "\n- program reader: consumer, ended by itself with exit code 3, restarted" in text


def test_every_table_has_as_many_cells_in_each_row() -> None:
    text = with_measured("a | b\nc `d` \\| <script> *e*")
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        cells = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in table.splitlines()}
        assert len(cells) == 1, table


@pytest.mark.parametrize("text", ["<img src=x onerror=alert(1)>", "[a](http://b)", "@somebody #1", "`code`", "**b**"])
def test_what_was_measured_stays_text(text: str) -> None:
    cell = with_measured(text).split("| clean | ")[1].split("\n")[0]
    assert not re.search(r"(?<!\\)[<>\[\]@#`*]", cell)


NEVER = TimelineEvidence(fault="still", fired=False, asked="pause: x, when lag > 5", acted=False, did="")
PAUSED = "| still | fixed | pause: \\{part: kafka\\}: 8.0s to 13.0s, it was silent"
INACTIVE = {"acted": False, "inaction": "no request had to wait"}
CHANGED = ChangedValue(place="traffic.rate", before="20/s", value="40/s")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"fault_evidence": {"fixed": (STILL,)}}, f"{PAUSED} | yes |"),
        (
            {"fault_evidence": {"fixed": (STILL.model_copy(update={"acted": False}),)}},
            f"{PAUSED} | began, but was not seen to act |",
        ),
        ({"fault_evidence": {"fixed": (NEVER,)}}, "| still | fixed | pause: x, when lag \\> 5 | never |"),
        (
            {"fault_evidence": {"fixed": (storm.result().fault_evidence["fixed"][0].model_copy(update=INACTIVE),)}},
            "| parser | fixed | matched 402 requests | matched, but did not act: no request had to wait |",
        ),
        ({"fault_evidence": {"incident": ()}}, "| no fault was injected | incident |  | no |"),
        ({"config_difference": {"key": {"incident": "a`b", "fixed": "c|d"}}}, "| `key` | `` a`b `` | `c\\|d` |"),
        ({"changes": (CHANGED,)}, "not the file as it is: traffic.rate: 20/s → 40/s"),
    ],
    ids=[
        "what a part did under a fault of the timeline",
        "a fault of the timeline that did nothing",
        "a fault of the timeline that never began",
        "a fault of the mock that did nothing",
        "an arm without a fault",
        "a value with the marks of code in it",
        "a run that is not of the file as it is",
    ],
)
def test_a_line_of_the_summary(changes: dict[str, Any], line: str) -> None:
    assert line in of(storm.result().model_copy(update=changes)).splitlines()


def test_long_text_is_cut() -> None:
    assert "…" in with_measured("x" * 5000)
    assert len(with_measured("x" * 5000)) < 3000


def test_a_run_that_broke_off() -> None:
    text = broke_off_markdown(storm.metadata(), "kafka ended:\nexit code 1", DIRECTORY)
    assert text.startswith("## ❔ a-storm: no verdict\n")
    assert "The kit could not finish the run: kafka ended: exit code 1\n" in text
    assert "Repeat: `devkit scenario run a-storm --seed 7`" in text


def parsed(text: str) -> ET.Element:
    """Parsed, and checked against what Jenkins' junit-10.xsd allows, and for counts that add up."""
    root = ET.fromstring(text.encode())
    assert root.tag == "testsuites"
    for element in root.iter():
        assert set(element.attrib) <= ATTRIBUTES[element.tag], element.tag
        assert REQUIRED.get(element.tag, set()) <= set(element.attrib), element.tag
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set()), element.tag
    for suite in [root, *root]:
        assert int(suite.attrib["tests"]) == len(list(suite.iter("testcase")))
        assert int(suite.attrib["failures"]) == len(list(suite.iter("failure")))
        assert int(suite.attrib["errors"]) == len(list(suite.iter("error")))
    return root


def case(root: ET.Element, suite: str) -> ET.Element:
    (found,) = root.findall(f"testsuite[@name='a-storm.{suite}']/testcase")
    return found


def fixed_arm(expected: str, measured: str, holds: bool | None = False, **changes: Any) -> ArmResult:
    items = (expectation("audit", expected, measured, holds),)
    return storm.result().arms["fixed"].model_copy(update={"expectations": items, "holds": holds} | changes)


def test_a_run_as_it_is_hoped_for() -> None:
    result = storm.result()
    root = parsed(junit_xml(storm.metadata(), dict(result.arms), result=result, output="all is well"))
    assert [suite.attrib["name"] for suite in root] == ["a-storm.incident", "a-storm.fixed", "a-storm.verdict"]
    assert [suite.attrib["tests"] for suite in root] == ["3", "2", "1"]
    assert (root.attrib["failures"], root.attrib["errors"], root.attrib["time"]) == ("0", "0", "92.000")
    assert root[0].attrib["timestamp"] == "2026-11-21T10:00:00"
    assert case(root, "verdict").attrib["name"] == "reproduced and fixed"
    assert case(root, "verdict").findtext("system-out") == "all is well"


def test_what_has_not_ended_is_an_error() -> None:
    before = parsed(junit_xml(storm.metadata(), {}))
    after = parsed(junit_xml(storm.metadata(), {"incident": storm.result().arms["incident"]}))
    assert [[suite.attrib["errors"] for suite in root] for root in (before, after)] == [["1"] * 3, ["0", "1", "1"]]
    assert case(after, "fixed")[0].attrib["message"] == "it has not ended"
    broken = parsed(junit_xml(storm.metadata(), {}, broke_off="kafka ended"))
    assert case(broken, "fixed")[0].text == "the fixed arm: kafka ended"
    assert case(broken, "verdict")[0].attrib["message"] == "no verdict: kafka ended"


@pytest.mark.parametrize(
    ("outcome", "exit_code", "kind"), [("fix does not hold", 1, "failure"), ("inconclusive", 3, "error")]
)
def test_refuted_is_a_failure_and_inconclusive_an_error(outcome: str, exit_code: int, kind: str) -> None:
    complaint = Complaint(kind="exception", text="ValueError:\n no", process=2)
    arms = {"fixed": fixed_arm("clean", "lost 2", complaints=(complaint,))}
    changes = {"outcome": outcome, "exit_code": exit_code, "reasons": ("fixed: lost 2",), "arms": arms}
    result = storm.result().model_copy(update=changes)
    (found,) = case(parsed(junit_xml(storm.metadata(), dict(result.arms), result=result)), "verdict")
    assert (found.tag, found.attrib["message"].split(": ")[0]) == (kind, outcome)
    assert (found.text or "").splitlines() == [
        *(["next: `devkit scenario run a-storm --seed 7`"] if outcome == "inconclusive" else []),
        "the program said first:",
        "  fixed: process 2, exception: ValueError: no",
        "broken expectations:",
        "  fixed: audit: expected clean, measured lost 2",
        "configuration difference:",
        *(f"  {line}" for line in difference(result)),
        "repeat: devkit scenario run a-storm --seed 7",
    ]


def test_an_expectation_that_fails_says_what_was_measured() -> None:
    root = parsed(junit_xml(storm.metadata(), {"fixed": fixed_arm("clean", "lost 2")}))
    assert case(root, "fixed").attrib["name"] == "audit: clean"
    assert case(root, "fixed")[0].attrib["message"] == "audit: expected clean, measured lost 2"


def test_what_nobody_can_tell_is_skipped_and_the_verdict_an_error() -> None:
    arm = fixed_arm("true", "n/a: not observable", None)
    inconclusive = storm.result().model_copy(update={"outcome": "inconclusive", "exit_code": 3, "reasons": ("x",)})
    root = parsed(junit_xml(storm.metadata(), {"fixed": arm}, result=inconclusive))
    (found,) = case(root, "fixed")
    assert (found.tag, "n/a: not observable" in found.attrib["message"]) == ("skipped", True)
    assert root[1].attrib["skipped"] == "1"
    assert case(root, "verdict")[0].tag == "error"


def test_any_text_makes_a_well_formed_document() -> None:
    wild = '</failure>]]> & "quoted" \x00\x1b[31m\ud800 \ufffe ✓ 💥\r\n'
    root = parsed(junit_xml(storm.metadata(), {"fixed": fixed_arm(wild, wild)}, broke_off=wild, output=wild))
    assert '</failure>]]> & "quoted"' in (case(root, "fixed")[0].text or "")


def test_a_single_arm_has_no_suite_for_the_other() -> None:
    metadata = storm.metadata().model_copy(update={"arms": ("fixed",)})
    root = parsed(junit_xml(metadata, {"fixed": storm.result().arms["fixed"]}))
    assert [suite.attrib["name"] for suite in root] == ["a-storm.fixed", "a-storm.verdict"]
    assert case(root, "verdict").attrib["name"] == "fixed arm holds"
