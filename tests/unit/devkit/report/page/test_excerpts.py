from dataclasses import replace
from pathlib import Path

import pytest

from devkit.report.arm_record import ArmRecord, Process
from devkit.report.page.excerpts import excerpts
from devkit.report.run_record import RunRecord
from tests.unit.devkit.report import storm

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
