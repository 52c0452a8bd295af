"""A recorded run of a small project, and what is selected after each kind of change to it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tests.selection.__main__ import ALL, RECORD, main
from tests.selection.record import Record, take_snapshot

ROOMS = ("justw",)
FILES = {
    ".gitignore": f"{RECORD}\n__pycache__/\n.pytest_cache/\n",
    "pyproject.toml": """
        [tool.pytest.ini_options]
        addopts = ["--import-mode=importlib"]
        pythonpath = ["."]
        markers = ["main_path", "slow", "unit"]
    """,
    "shop/__init__.py": "",
    "shop/prices.py": """
        from functools import cache

        LIMIT = 5
        CURRENCY = "EUR"

        class Price:
            cents = 3

        @cache
        def table():
            return load()

        def load():
            return 7
    """,
    "shop/units.py": """
        def parse(text):
            return int(text)

        UNIT = parse("1")
    """,
    "shop/doubled.py": "from shop.prices import LIMIT\n\nDOUBLE = 2 * LIMIT\n",
    "shop/program.py": "from shop.prices import load\n\nprint(load())\n",
    "shop/late.py": "VALUE = 1\n",
    "data/words.txt": "a b\n",
    "tests/conftest.py": """
        import pytest

        def pytest_itemcollected(item):
            item.add_marker("unit")

        @pytest.fixture(scope="session")
        def shared():
            from shop.prices import load
            return load()
    """,
    "tests/integration/README": "",
    "tests/conformance/README": "",
    "tests/unit/test_constant.py": """
        from shop.prices import LIMIT

        def test_constant():
            assert LIMIT
    """,
    "tests/unit/test_derived.py": """
        from shop.doubled import DOUBLE

        def test_derived():
            assert DOUBLE
    """,
    "tests/unit/test_class.py": """
        from shop.prices import Price

        def test_class():
            assert Price().cents
    """,
    **{
        f"tests/unit/test_cached_{number}.py": """
            from shop.prices import table

            def test_cached():
                assert table()
        """
        for number in (1, 2)
    },
    **{
        f"tests/unit/test_fixture_{number}.py": """
            def test_fixture(shared):
                assert shared
        """
        for number in (1, 2)
    },
    **{
        f"tests/unit/test_late_{number}.py": """
            def test_late():
                from shop.late import VALUE

                assert VALUE
        """
        for number in (1, 2)
    },
    "tests/unit/test_import.py": """
        from shop.units import UNIT

        def test_import():
            assert UNIT
    """,
    "tests/unit/test_data.py": """
        from pathlib import Path

        def test_data():
            assert Path("data/words.txt").read_text()
    """,
    "tests/unit/test_directory.py": """
        from pathlib import Path

        def test_directory():
            assert list(Path("data").iterdir())
    """,
    "tests/unit/test_program.py": """
        import subprocess
        import sys

        def test_program():
            assert subprocess.check_output([sys.executable, "-m", "shop.program"])
    """,
    "tests/unit/test_nothing.py": """
        def test_nothing():
            pass
    """,
}
RUN_LOAD = {"cached_1", "cached_2", "fixture_1", "fixture_2", "program"}


def git(top: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=top, check=True)


@pytest.fixture(scope="module", autouse=True)
def as_a_developer() -> Iterator[None]:
    """Neither in CI nor in a process of xdist's, whose variables would reach the pytest that is started."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name == "CI" or name.startswith("PYTEST_XDIST")]:
            patch.delenv(name)
        patch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "1")
        yield


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(dedent(text))
    git(top, "init", "--quiet")
    assert main([], top) == 0
    return top


@pytest.fixture
def project(recorded: Path, tmp_path: Path) -> Path:
    return shutil.copytree(recorded, tmp_path / "project")


def selected(top: Path) -> set[str]:
    affected = Record.load(top / RECORD).affected(top, take_snapshot(top))
    return {Path(file).stem.removeprefix("test_") for file in affected}


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("shop/prices.py", "LIMIT = 5", "LIMIT = 6", {"constant", "derived"}),
        ("shop/prices.py", "cents = 3", "cents = 4", {"class"}),
        ("shop/prices.py", "return 7", "return 8", RUN_LOAD),
        ("shop/prices.py", "return load()", "return load() + 1", {"cached_1", "cached_2"}),
        ("shop/units.py", "int(text)", "int(text) + 1", {"import"}),
        ("shop/prices.py", "return 7", "return 7  # cents", set()),
        ("shop/prices.py", "def load", "def other():\n    return 1\n\ndef load", set()),
        ("shop/late.py", "1", "2", {"late_1", "late_2"}),
        ("data/words.txt", "a b", "a c", {"data"}),
        ("tests/unit/test_nothing.py", "pass", "assert False", {"nothing"}),
        ("tests/conftest.py", "return load()", "return load() + 1", {"fixture_1", "fixture_2"}),
    ],
)
def test_a_change_selects_what_it_affects(project: Path, file: str, old: str, new: str, expected: set[str]) -> None:
    replace(project / file, old, new)
    chosen = selected(project)
    # A file that ran anything of a changed module may use its names.
    assert expected <= chosen
    assert chosen - expected <= ({*RUN_LOAD, "derived"} if file == "shop/prices.py" else set())


def test_a_file_that_is_new_or_failed_is_selected(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace(project / "tests/unit/test_nothing.py", "pass", "assert False")
    (project / "tests/unit/test_new.py").write_text("def test_new():\n    pass\n")
    assert selected(project) == {"nothing", "new"}
    monkeypatch.delenv("CI", raising=False)
    assert main([], project) == 1
    assert selected(project) == {"nothing"}


def test_a_new_file_in_a_directory_selects_who_lists_it(project: Path) -> None:
    (project / "data/more.txt").touch()
    assert selected(project) == {"directory"}


@pytest.mark.parametrize("file", ["pyproject.toml", "tests/unit/conftest.py"])
def test_some_files_are_for_all(project: Path, file: str) -> None:
    with (project / file).open("a") as opened:
        opened.write("# further\n")
    assert len(selected(project)) == sum(name.startswith("tests/unit/test_") for name in FILES)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is called instead of pytest."""
    calls: list[list[str]] = []
    monkeypatch.setattr(subprocess, "call", lambda command, **_: calls.append(command) or 2)
    monkeypatch.delenv("CI", raising=False)
    return calls


def test_nothing_runs_when_nothing_changed(
    project: Path, calls: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([], project) == 0
    assert not calls
    assert capsys.readouterr().out.startswith("0 of 14 files of unit tests (0 s)")


@pytest.mark.parametrize("reason", ["--all", "CI", "no record", "a record of another version"])
def test_all_run(project: Path, calls: list[list[str]], monkeypatch: pytest.MonkeyPatch, reason: str) -> None:
    if reason == "CI":
        monkeypatch.setenv("CI", "true")
    elif reason == "no record":
        (project / RECORD).unlink()
    elif reason != "--all":
        (project / RECORD).write_text('{"version": 2}')
    assert main(["--all"] if reason == "--all" else [], project) == 2
    (command,) = calls
    assert command[-len(ALL) :] == ALL


def test_only_what_is_affected_runs(project: Path, calls: list[list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    replace(project / "data/words.txt", "a b", "a c")
    assert main([], project) == 2
    (command,) = calls
    assert command[-3:] == ["-m", "not slow", "tests/unit/test_data.py"]
    assert "no main paths. All: `just test --all`" in capsys.readouterr().out
