"""One test run by pytest in a tree, and what its report says."""

import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.mutants.model import Mutant, Process

Outcome = Literal["passed", "failed", "error", "skipped", "missing"]

_TIMEOUT_S = 1800


@dataclass(frozen=True)
class Trial:
    """How a pytest run ended: `exit_code` None when its time was over; by test how it went and what it said."""

    exit_code: int | None
    results: Mapping[str, tuple[Outcome, str]]
    seconds: float
    output: str

    def of(self, test: str) -> tuple[Outcome, str]:
        """Outcome and message of the test with this node id."""
        return self.results.get(case_of(test), ("missing", ""))


@dataclass(frozen=True)
class Verdict:
    """Whether a mutant was caught, and by what words, or why not."""

    mutant: Mutant
    caught: bool
    message: str
    seconds: float
    loaded_in: frozenset[Process]


def run_tests(
    root: Path, tests: Sequence[str], environment: Mapping[str, str], *, timeout_s: float = _TIMEOUT_S
) -> Trial:
    """Run the tests with these node ids in the tree at `root`."""
    report = root / "report.xml"
    report.unlink(missing_ok=True)
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "slow or not slow"]
    argv += [f"--junitxml={report}", "-o", "junit_family=xunit2", *tests]
    started = time.monotonic()
    process = subprocess.Popen(
        argv,
        cwd=root,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    code: int | None
    try:
        output, _ = process.communicate(timeout=timeout_s)
        code = process.returncode
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        code = None
    results = read_report(report.read_text(encoding="utf-8")) if report.exists() else {}
    return Trial(code, results, time.monotonic() - started, output)


def read_report(text: str) -> dict[str, tuple[Outcome, str]]:
    """By test, what a JUnit report of pytest says."""
    found: dict[str, tuple[Outcome, str]] = {}
    for case in ET.fromstring(text).iter("testcase"):
        outcome: Outcome = "passed"
        message = ""
        for kind in ("skipped", "failure", "error"):
            part = case.find(kind)
            if part is not None:
                outcome = "failed" if kind == "failure" else "error" if kind == "error" else "skipped"
                message = part.get("message", "")
        found[f"{case.get('classname')}::{case.get('name')}"] = (outcome, message)
    return found


def case_of(test: str) -> str:
    """A node id as a JUnit report names the test."""
    path, _, name = test.partition("::")
    return f"{path.removesuffix('.py').replace('/', '.')}::{name}"


def judge(mutant: Mutant, trial: Trial, loaded_in: frozenset[Process]) -> Verdict:
    """Caught is a mutant only by an assertion of its own test, about its own rule, that ran the changed code."""
    outcome, message = trial.of(mutant.test)

    def verdict(caught: bool, text: str) -> Verdict:
        return Verdict(mutant, caught, text, trial.seconds, loaded_in)

    if trial.exit_code is None:
        return verdict(False, f"no end within {trial.seconds:.0f} s")
    if trial.exit_code != 1 or outcome != "failed":
        return verdict(False, f"pytest ended with {trial.exit_code}, the test {outcome}: {first_line(message)}")
    if not message.startswith(("AssertionError", "assert ", "Failed: ")):
        return verdict(False, f"failed, and not by an assertion: {first_line(message)}")
    if not re.search(mutant.says, message):
        return verdict(False, f"failed, but does not say {mutant.says!r}: {first_line(message)}")
    if missing := mutant.where - loaded_in:
        return verdict(False, f"failed, but the changed code was not loaded in: {', '.join(sorted(missing))}")
    return verdict(True, first_line(message))


def first_line(message: str) -> str:
    """The first line that says something, without the exception's name."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return lines[0].removeprefix("AssertionError: ").removeprefix("Failed: ") if lines else "no message"
