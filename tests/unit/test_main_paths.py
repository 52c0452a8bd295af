"""The list of main paths cannot rot: each entry is a test that is there and runs without being asked for."""

import ast
import re
from pathlib import Path

import pytest

from tests.main_paths import MAIN_PATHS, is_main_path
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
        ("tests/integration/test_parts.py::test_a_broker_that_was_started_again_has_its_records[kill]", True),
        ("tests/integration/test_parts.py::test_a_broker_that_was_started_again_has_its_records", True),
        ("tests/integration/test_parts.py::test_a_broker_that_was_started_again_has_its_records_too", False),
        ("tests/integration/test_parts.py::test_another", False),
        ("tests/unit/test_rooms.py::test_the_rule_itself", False),
    ],
)
def test_a_test_is_known_by_its_file_or_by_its_function(node_id: str, is_one: bool) -> None:
    assert is_main_path(node_id) is is_one


def test_the_recipes_leave_no_test_out() -> None:
    """What one recipe of the two leaves out, the other selects; and both leave out what is slow."""
    justfile = (TOP / "justfile").read_text()
    assert ALL == ["-m", "main_path or (unit and not slow)", "tests/unit", "tests/integration", "tests/conformance"]
    (more,) = re.findall(r'pytest --ignore=tests/unit -m "not slow and not main_path".*', justfile)
    assert more


def test_one_process_runs_them_all(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests under the names of two main paths, with this conftest's hook: all say the same worker."""
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    pytester.makeconftest("from tests.conftest import pytest_itemcollected\n")
    pytester.makeini("[pytest]\nmarkers =\n    main_path: a mark\n    unit: a mark\n")
    for file in ("tests/conformance/test_conformance.py", "tests/integration/rules/test_rules.py"):
        path = pytester.path / file
        path.parent.mkdir(parents=True)
        path.write_text(
            "import os, pathlib, pytest\n\n"
            "@pytest.mark.parametrize('number', range(8))\n"
            "def test_a_worker(number):\n"
            "    with pathlib.Path('workers').open('a') as workers:\n"
            "        workers.write(os.environ['PYTEST_XDIST_WORKER'] + '\\n')\n"
        )
    pytester.runpytest_subprocess("-n", "2", "--dist", "loadgroup", "--import-mode=importlib").assert_outcomes(
        passed=16
    )
    workers = (pytester.path / "workers").read_text().split()
    assert len(workers) == 16
    assert len(set(workers)) == 1
