"""The mutants fit the pipeline as it is, and what a trial of one says."""

import ast
from pathlib import Path

import pytest

from tests.mutants.model import Mutant, Process, Replacement, StaleMutantError
from tests.mutants.registry import MUTANTS, RULES
from tests.mutants.tree import process_kind
from tests.mutants.trial import Outcome, Trial, judge

TOP = Path(__file__).parents[3]
NAMES = [f"{mutant.rule}: {mutant.what}" for mutant in MUTANTS]
TEST = "tests/a/test_b.py::test_c[d]"
MUTANT = Mutant(1, "what", (Replacement("pipeline/a.py", "a", "b"),), TEST, "too large", frozenset({"worker"}))
CASE = "tests.a.test_b::test_c[d]"
WORKER: frozenset[Process] = frozenset({"worker", "driver"})


def test_every_rule_has_a_mutant() -> None:
    assert list(RULES) == list(range(1, 13))
    assert {mutant.rule for mutant in MUTANTS} == set(RULES)
    assert len(set(NAMES)) == len(NAMES)
    assert [mutant.rule for mutant in MUTANTS] == sorted(mutant.rule for mutant in MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=NAMES)
def test_a_mutant_applies_to_the_present_source_and_is_python(mutant: Mutant, tmp_path: Path) -> None:
    paths = {replacement.path for replacement in mutant.replacements}
    assert paths
    for path in paths:
        assert path.startswith("pipeline/")
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text((TOP / path).read_text())
    mutant.apply(tmp_path)
    for path in paths:
        text = (tmp_path / path).read_text()
        assert text != (TOP / path).read_text()
        ast.parse(text)


@pytest.mark.parametrize("mutant", MUTANTS, ids=NAMES)
def test_its_test_is_there(mutant: Mutant) -> None:
    path, _, name = mutant.test.partition("::")
    tree = ast.parse((TOP / path).read_text())
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert name.partition("[")[0] in functions


@pytest.mark.parametrize("text", ["a = 1\n", "x = 2\nx = 2\n"], ids=["gone", "twice"])
def test_a_stale_mutant_changes_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.py").write_text("y = 1\n")
    (tmp_path / "b.py").write_text(text)
    replacements = (Replacement("a.py", "y = 1", "y = 2"), Replacement("b.py", "x = 2", "x = 3"))
    mutant = Mutant(1, "what", replacements, "tests/a.py::test", "", frozenset())
    with pytest.raises(StaleMutantError, match=r"b\.py: 'x = 2' is there \d times"):
        mutant.apply(tmp_path)
    assert (tmp_path / "a.py").read_text() == "y = 1\n"


def test_two_replacements_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\ny = 1\n")
    replacements = (Replacement("a.py", "x = 1", "x = 2"), Replacement("a.py", "y = 1", "y = 2"))
    Mutant(1, "what", replacements, "tests/a.py::test", "", frozenset()).apply(tmp_path)
    assert (tmp_path / "a.py").read_text() == "x = 2\ny = 2\n"


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
