"""The list of main paths cannot rot: each entry is a test that is there and runs without being asked for."""

import ast
from pathlib import Path

import pytest

from tests.main_paths import MAIN_PATHS, is_main_path
from tests.rota import PYTEST
from tests.selection.__main__ import ALL

TOP = Path(__file__).parents[2]


@pytest.mark.parametrize("node_id", MAIN_PATHS)
def test_each_is_a_test_that_is_not_slow(node_id: str) -> None:
    file, _, name = node_id.partition("::")
    tree = ast.parse((TOP / file).read_text())
    tests = {
        node.name: [ast.unparse(one) for one in node.decorator_list]
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    chosen = [tests[name]] if name else list(tests.values())
    assert chosen
    assert not any("slow" in decorator for decorators in chosen for decorator in decorators)


@pytest.mark.parametrize(
    ("node_id", "is_one"),
    [
        ("tests/integration/rules/test_rules.py::test_a_rule", True),
        ("tests/integration/test_scenario_verdict.py::test_the_incident_is_reproduced_and_fixed[case]", True),
        ("tests/integration/test_scenario_verdict.py::test_the_incident_is_reproduced_and_fixed", True),
        ("tests/integration/test_scenario_verdict.py::test_the_incident_is_reproduced_and_fixed_too", False),
        ("tests/integration/test_scenario_verdict.py::test_another", False),
        ("tests/unit/test_rooms.py::test_the_rule_itself", False),
    ],
)
def test_a_test_is_known_by_its_file_or_by_its_function(node_id: str, is_one: bool) -> None:
    assert is_main_path(node_id) is is_one


def test_the_recipes_leave_no_test_out() -> None:
    """What one recipe of the two leaves out, the other selects; and both leave out what is slow."""
    justfile = (TOP / "justfile").read_text()
    assert ALL == ["-m", "main_path or (unit and not slow)", "tests/unit", "tests/integration", "tests/conformance"]
    assert "@python -m tests.rota" in justfile
    assert PYTEST[-2:] == ("-m", "not slow and not main_path")
