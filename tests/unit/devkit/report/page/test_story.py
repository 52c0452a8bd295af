from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from devkit.report.arm_record import ArmRecord, Process
from devkit.report.outcome import Outcome
from devkit.report.page.excerpts import excerpts
from devkit.report.page.story import paragraph, verdict
from devkit.report.run_record import RunRecord
from tests.unit.devkit.report import storm
from tests.unit.devkit.report.conftest import STILL, result_of, with_arm_result, with_result

MOODS = {"good": "✓", "bad": "✗", "unknown": "?"}
PYTHON = """\
Traceback (most recent call last):
  File "/a/b.py", line 3, in run
    save(
    ^^^^^
  File "/a/c.py", line 9, in save
    raise ValueError("no")
ValueError: no"""
JAVA = """\
java.lang.IllegalStateException: no
\tat org.apache.spark.A.a(A.scala:1)
\tat jdk.proxy3/jdk.proxy3.$Proxy44.call(Unknown Source)
\t... 34 more
Caused by: x"""


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


def an_arm(ends: int = 1) -> ArmRecord:
    processes = tuple(Process(n, n, n + 0.5, n + 0.1, exit_code=1, failure=f"why {n}") for n in range(1, ends + 1))
    return ArmRecord("incident", 500.0, None, (), (), (*processes, Process(99, 400, 500)), (), {}, (), ())


def lines(tmp_path: Path, text: str) -> tuple[str, ...]:
    logs = tmp_path / "incident" / "logs"
    logs.mkdir(parents=True)
    (logs / "pipeline-1.log").write_text(text)
    ((found,), _) = excerpts(tmp_path, an_arm())
    return found.lines


def test_of_each_process_that_ended_by_itself(run: RunRecord) -> None:
    found, left_out = excerpts(run.directory, run.arms["incident"])
    ends = ((1, 22.0), (2, 38.0))
    assert [one.title for one in found] == [f"process {n} ended at {at_s} s with exit code 1" for n, at_s in ends]
    assert (found[0].reason, found[0].file, left_out) == (storm.STALLED, "incident/logs/pipeline-1.log", 0)
    end = ("java.lang.IllegalStateException: stalled", "    … 30 frames", f"error: {storm.STALLED}")
    assert found[0].lines[-3:] == end


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        (PYTHON, ("Traceback (most recent call last):", "    … 2 frames", "ValueError: no")),
        (JAVA, ("java.lang.IllegalStateException: no", "    … 3 frames", "Caused by: x")),
        ("x\n\tat a.b(C.java:1)\n", ("x", "    … 1 frame")),
        ("x" * 200_000, ("(it wrote nothing)",)),
        ("\n\n", ("(it wrote nothing)",)),
    ],
    ids=["Python's frames with their source", "Java's frames", "frames at the very end", "one endless line", "empty"],
)
def test_what_is_shown_of_a_log(tmp_path: Path, log: str, shown: tuple[str, ...]) -> None:
    assert lines(tmp_path, log) == shown


def test_only_the_end_of_a_long_log_is_taken(tmp_path: Path) -> None:
    found = lines(tmp_path, "\n".join(f"line {n} {'é' * 1000}" for n in range(500)))
    assert len(found) == 24
    assert found[-1].startswith("line 499 ")
    assert max(map(len, found)) <= 320


def test_a_log_that_is_gone(tmp_path: Path) -> None:
    ((found,), _) = excerpts(tmp_path, an_arm())
    assert found.lines == ("(cannot be read: No such file or directory)",)


def test_of_many_the_first_and_the_last_are_shown(tmp_path: Path) -> None:
    found, left_out = excerpts(tmp_path, an_arm(20))
    assert [one.reason for one in found] == [f"why {n}" for n in (1, 2, 3, 4, 17, 18, 19, 20)]
    assert left_out == 12


@pytest.mark.parametrize(
    ("process", "reason"),
    [
        (Process(1, 1, 2, exit_code=137, killed="over its limit: of 700 MiB"), "over its limit: of 700 MiB"),
        (Process(1, 1, 2, exit_code=1, failure="failed", dumped="x.hprof: byte[]"), "x.hprof: byte[]; failed"),
    ],
    ids=["it was killed in its container and wrote nothing", "a heap dump before what the job said"],
)
def test_the_reason_for_an_end(tmp_path: Path, process: Process, reason: str) -> None:
    (tmp_path / "incident/logs").mkdir(parents=True)
    (tmp_path / "incident/logs/pipeline-1.log").write_text("")
    ((found,), _) = excerpts(tmp_path, replace(an_arm(), processes=(process,)))
    assert (found.reason, found.lines) == (reason, ("(it wrote nothing)",))


def test_of_several_programs_it_says_whose_it_is(tmp_path: Path) -> None:
    arm = replace(an_arm(), program="html", beside={"once": (Process(1, 3.0, 4.0, exit_code=3),)})
    found, _ = excerpts(tmp_path, arm)
    assert [(one.title, one.file) for one in found] == [
        ("html, process 1 ended at 1.5 s with exit code 1", "incident/logs/html-1.log"),
        ("once, process 1 ended at 4.0 s with exit code 3", "incident/logs/once-1.log"),
    ]
