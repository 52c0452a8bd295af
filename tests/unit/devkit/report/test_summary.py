import re
from pathlib import Path
from typing import Any

import pytest

from devkit.observe.arm_observation import TimelineEvidence
from devkit.observe.settings import ChangedValue
from devkit.report.result import Result
from devkit.report.summary import broke_off_markdown, summary_markdown
from tests.unit.devkit.report import storm
from tests.unit.devkit.report.conftest import LOST, STILL, a_program, expectation, with_arm

DIRECTORY = Path("runs/a-storm/20261121T100000Z")


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
