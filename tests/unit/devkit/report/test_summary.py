import re
from pathlib import Path

import pytest

from devkit.observe.arm_observation import TimelineEvidence
from devkit.observe.settings import ChangedValue
from devkit.report.expectation_result import ExpectationResult
from devkit.report.result import ProgramResult, Result
from devkit.report.summary import broke_off_markdown, summary_markdown
from tests.unit.devkit.report import storm

DIRECTORY = Path("runs/a-storm/20261121T100000Z")


def of(result: Result) -> str:
    return summary_markdown(result, DIRECTORY)


def with_measured(text: str) -> str:
    result = storm.result()
    item = ExpectationResult(name="audit", expected="clean", measured=text, holds=False)
    fixed = result.arms["fixed"].model_copy(update={"expectations": (item,)})
    return of(result.model_copy(update={"arms": {"fixed": fixed}}))


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
    item = ExpectationResult(name="audit", expected="clean", measured="lost 2", holds=False)
    fixed = storm.result().arms["fixed"].model_copy(update={"expectations": (item,), "holds": False})
    changes = {"outcome": outcome, "exit_code": exit_code, "reasons": ("fixed: lost 2",), "arms": {"fixed": fixed}}
    text = of(storm.result().model_copy(update=changes))
    assert text.startswith(f"## {mark} a-storm: {outcome}")
    parts = ["**broken expectations**", "- fixed: audit: expected clean", "**configuration difference**", "Repeat: "]
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    assert text.count("Repeat: ") == 1


def test_each_of_several_programs_is_named() -> None:
    reader = ProgramResult(
        name="reader",
        run="consumer",
        started=True,
        restarts=1,
        exit_codes=(3,),
        is_over=False,
        failures=(),
        exceptions=(),
    )
    result = storm.result()
    fixed = result.arms["fixed"].model_copy(update={"programs": (reader,)})
    text = of(result.model_copy(update={"arms": {"fixed": fixed}}))
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


def test_a_value_with_the_marks_of_code_in_it() -> None:
    difference = {"key": {"incident": "a`b", "fixed": "c|d"}}
    text = of(storm.result().model_copy(update={"config_difference": difference}))
    assert "| `key` | `` a`b `` | `c\\|d` |" in text


def test_long_text_is_cut() -> None:
    assert "…" in with_measured("x" * 5000)
    assert len(with_measured("x" * 5000)) < 3000


def test_a_fault_that_met_requests_and_did_nothing() -> None:
    result = storm.result()
    idle = result.fault_evidence["fixed"][0].model_copy(update={"acted": False, "inaction": "no request had to wait"})
    text = of(result.model_copy(update={"fault_evidence": {"fixed": (idle,), "incident": ()}}))
    assert "| parser | fixed | matched 402 requests | matched, but did not act: no request had to wait |" in text
    assert "| no fault was injected | incident |  | no |" in text


def test_a_run_that_broke_off() -> None:
    text = broke_off_markdown(storm.metadata(), "kafka ended:\nexit code 1", DIRECTORY)
    assert text.startswith("## ❔ a-storm: no verdict\n")
    assert "The kit could not finish the run: kafka ended: exit code 1\n" in text
    assert "Repeat: `devkit scenario run a-storm --seed 7`" in text


def of_timeline(evidence: TimelineEvidence) -> str:
    return of(storm.result().model_copy(update={"fault_evidence": {"fixed": (evidence,), "incident": ()}}))


def test_a_fault_of_the_timeline_says_what_its_part_did() -> None:
    evidence = TimelineEvidence(
        fault="still", fired=True, asked="pause: {part: kafka}", acted=True, did="it was silent", from_s=8.04, to_s=13
    )
    row = "| still | fixed | pause: \\{part: kafka\\}: 8.0s to 13.0s, it was silent | yes |"
    assert row in of_timeline(evidence)
    idle = evidence.model_copy(update={"acted": False})
    assert "it was silent | began, but was not seen to act |" in of_timeline(idle)


def test_a_fault_of_the_timeline_that_never_began() -> None:
    evidence = TimelineEvidence(fault="still", fired=False, asked="pause: x, when lag > 5", acted=False, did="")
    assert "| still | fixed | pause: x, when lag \\> 5 | never |" in of_timeline(evidence)


def test_a_run_that_is_not_of_the_file_as_it_is_says_so() -> None:
    changes = (ChangedValue(place="traffic.rate", before="20/s", value="40/s"),)
    text = of(storm.result().model_copy(update={"changes": changes}))
    assert "\nnot the file as it is: traffic.rate: 20/s → 40/s\n" in text
