"""The mutants fit the pipeline as it is, so that a change of it that makes one worthless shows at once."""

import ast
from pathlib import Path

import pytest

from tests.mutants.model import Mutant, Replacement, StaleMutantError
from tests.mutants.registry import MUTANTS, RULES

TOP = Path(__file__).parents[3]
NAMES = [f"{mutant.rule}: {mutant.what}" for mutant in MUTANTS]


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
