"""The suite's own tools, with the processes that they start: pytest for the mutants, xdist for the main paths."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from devkit.stack.compose_file import REPOSITORY as TOP
from tests.mutants.tree import Tree
from tests.mutants.trial import run_tests

ROOMS = ("pipeline/driver",)


def test_an_edited_module_is_loaded_from_the_copy_and_leaves_a_note(tmp_path: Path) -> None:
    tree = Tree(TOP, tmp_path / "work")
    file = tree.root / "pipeline" / "driver" / "spark_slots.py"
    plain = file.read_text()
    file.write_text(plain + "\nMARK = 'edited'\n")
    tree.watch(["pipeline/driver/spark_slots.py", "pipeline/driver/spark_slots.py"])
    assert tree.loaded_in() == frozenset()
    argv = [sys.executable, "-c", "from pipeline.driver import spark_slots as slots; print(slots.MARK, slots.__file__)"]
    done = subprocess.run(argv, cwd=tmp_path, env=tree.environment(), capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["edited", str(file)]
    assert tree.loaded_in() == {"driver"}
    tree.restore()
    assert tree.loaded_in() == frozenset()
    assert file.read_text() == plain == (TOP / "pipeline" / "driver" / "spark_slots.py").read_text()


def test_what_pytest_reports_is_read_by_node_id(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['slow']\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(
        "import pytest\n"
        "@pytest.fixture\ndef broken():\n    raise RuntimeError('no')\n"
        "def test_good(): pass\n"
        "@pytest.mark.slow\n@pytest.mark.parametrize('x', [1])\ndef test_bad(x): assert x == 2, 'is one'\n"
        "def test_broken(broken): pass\n"
    )
    done = run_tests(tmp_path, ["tests/test_it.py"], os.environ)
    assert done.exit_code == 1
    assert done.of("tests/test_it.py::test_good")[0] == "passed"
    outcome, message = done.of("tests/test_it.py::test_bad[1]")
    assert outcome == "failed"
    assert message.startswith("AssertionError: is one")
    assert done.of("tests/test_it.py::test_broken")[0] == "error"
    assert done.of("tests/test_it.py::test_absent") == ("missing", "")


def test_one_process_runs_all_main_paths(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests under the names of two main paths, with this conftest's hook: all say the same worker."""
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
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
    pytester.runpytest_subprocess(
        "-p", "xdist", "-n", "2", "--dist", "loadgroup", "--import-mode=importlib"
    ).assert_outcomes(passed=16)
    workers = (pytester.path / "workers").read_text().split()
    assert len(workers) == 16
    assert len(set(workers)) == 1
