"""A mutant is caught by an assertion of its own test alone, about its rule, in code that was really changed."""

import pytest

from tests.mutants.model import Mutant, Process, Replacement
from tests.mutants.tree import process_kind
from tests.mutants.trial import Outcome, Trial, judge

TEST = "tests/a/test_b.py::test_c[d]"
MUTANT = Mutant(1, "what", (Replacement("pipeline/a.py", "a", "b"),), TEST, "too large", frozenset({"worker"}))
CASE = "tests.a.test_b::test_c[d]"
WORKER: frozenset[Process] = frozenset({"worker", "driver"})


def trial(outcome: Outcome = "failed", message: str = "", exit_code: int | None = 1) -> Trial:
    return Trial(exit_code, {CASE: (outcome, message)}, 1.5, "")


def test_caught() -> None:
    verdict = judge(MUTANT, trial(message="AssertionError: it is too large\n  more"), WORKER)
    assert (verdict.caught, verdict.message) == (True, "it is too large")


@pytest.mark.parametrize(
    ("given", "loaded_in", "why"),
    [
        (trial(exit_code=None), WORKER, "no end within"),
        (trial("passed", exit_code=0), WORKER, "ended with 0, the test passed"),
        (trial("error", "ImportError: too large"), WORKER, "the test error"),
        (trial("failed", "AssertionError: too large", exit_code=2), WORKER, "ended with 2"),
        (Trial(4, {}, 1.0, ""), WORKER, "the test missing"),
        (trial(message="WaitTimeoutError: too large"), WORKER, "not by an assertion"),
        (trial(message="AssertionError: another"), WORKER, "does not say"),
        (trial(message="AssertionError: too large"), frozenset({"test"}), "was not loaded in: worker"),
    ],
)
def test_not_caught(given: Trial, loaded_in: frozenset[Process], why: str) -> None:
    verdict = judge(MUTANT, given, loaded_in)
    assert not verdict.caught
    assert why in verdict.message


@pytest.mark.parametrize(
    ("argv", "kind"),
    [
        (["python", "-m", "pytest", "-q"], "test"),
        (["python", "-m", "pipeline.worker.daemon", "pyspark.worker"], "worker"),
        (["python", "/tree/tests/integration/crash/launcher.py", "run"], "driver"),
        (["python", "-m", "pipeline", "run"], "driver"),
    ],
)
def test_a_process_is_known_by_its_command_line(argv: list[str], kind: Process) -> None:
    assert process_kind(argv) == kind
