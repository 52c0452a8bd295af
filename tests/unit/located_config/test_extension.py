"""Loading the user's own Python, the registries that it adds to, and what is said where it cannot be loaded."""

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from located_config import extension, registry
from located_config.extension import (
    VARIABLE,
    ExtensionError,
    environment_for,
    load_extension,
    load_from_environment,
    load_installed,
    loaded_with,
    source_of,
)
from located_config.registry import NameTakenError, Registry, additions

Write = Callable[[str, str], Path]
JOBS: Registry[str] = Registry("job", {"own": "x"})
EXPECTATIONS: Registry[str] = Registry("expectation", {})
MINE = "from tests.unit.located_config.test_extension import register\n\nregister('mine')\n"


def register(name: str) -> None:
    """What an extension calls."""
    JOBS.add(name, f"job {name}")


def expect(name: str) -> None:
    """The same of another kind."""
    EXPECTATIONS.add(name, f"expectation {name}")


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is loaded, and nothing stays."""
    monkeypatch.setattr(extension, "_loaded", {})
    monkeypatch.setattr(registry, "_additions", [])
    monkeypatch.setattr(JOBS, "_by_name", dict(JOBS))
    monkeypatch.setattr(EXPECTATIONS, "_by_name", {})
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.syspath_prepend(tmp_path)

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return write


def error(written: str, directory: Path) -> ExtensionError:
    with pytest.raises(ExtensionError) as refused:
        load_extension(written, directory)
    return refused.value


class TestAFile:
    def test_is_found_relative_to_the_directory(self, write: Write, tmp_path: Path) -> None:
        path = write("mine.py", MINE)
        loaded = load_extension("./mine.py", tmp_path)
        assert (loaded.source, [one.name for one in loaded.additions]) == (str(path), ["mine"])
        assert loaded.additions[0].place == f"{path}:3"
        assert JOBS["mine"] == "job mine"

    def test_is_loaded_once_however_it_is_written(self, write: Write, tmp_path: Path) -> None:
        path = write("mine.py", MINE)
        assert load_extension("mine.py", tmp_path) is load_extension(str(path), Path("/"))
        assert len(additions()) == 1

    def test_may_have_the_name_of_another(self, write: Write, tmp_path: Path) -> None:
        write("a/mine.py", MINE)
        write("b/mine.py", MINE.replace("'mine'", "'other'"))
        load_extension("a/mine.py", tmp_path)
        load_extension("b/mine.py", tmp_path)
        assert {"mine", "other"} < set(JOBS)

    def test_may_have_dataclasses_with_annotations_as_text(self, write: Write, tmp_path: Path) -> None:
        text = "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    a: A\n"
        write("mine.py", text + MINE.replace("from __future__", ""))
        assert load_extension("mine.py", tmp_path).additions

    def test_that_is_not_there(self, tmp_path: Path) -> None:
        assert str(error("./mine.py", tmp_path)) == f"{tmp_path}/mine.py: there is no such file"

    def test_that_is_a_directory(self, tmp_path: Path) -> None:
        assert str(error("./", tmp_path)) == f"{tmp_path}: it is a directory"

    def test_that_registers_nothing(self, write: Write, tmp_path: Path) -> None:
        path = write("mine.py", "x = 1\n")
        found = error("mine.py", tmp_path)
        assert str(found) == f"{path}: it registers nothing"
        assert "docs/extend.md" in str(found.hint)

    def test_that_fails_is_told_with_the_users_last_line(self, write: Write, tmp_path: Path) -> None:
        path = write("mine.py", "import json\n\ndef read():\n    return json.loads('{')\n\nread()\n")
        message = str(error("mine.py", tmp_path))
        assert message.startswith(f"{path}:4: it cannot be loaded: JSONDecodeError: Expecting property name")
        assert message.endswith("(in `return json.loads('{')`)")

    def test_that_is_not_python(self, write: Write, tmp_path: Path) -> None:
        path = write("mine.py", "x = 1\ndef\n")
        assert str(error("mine.py", tmp_path)) == f"{path}:2: it is not valid Python: invalid syntax"

    def test_that_takes_a_name_is_told_with_both_places(self, write: Write, tmp_path: Path) -> None:
        first, second = write("mine.py", MINE), write("other.py", MINE)
        load_extension("mine.py", tmp_path)
        message = str(error("other.py", tmp_path))
        assert message == (f"{second}:3: there is a job 'mine' already, added at {first}:3: give this one another name")

    def test_that_failed_says_so_each_time(self, write: Write, tmp_path: Path) -> None:
        write("mine.py", MINE + "1 / 0\n")
        assert str(error("mine.py", tmp_path)) == str(error("mine.py", tmp_path))
        assert "ZeroDivisionError" in str(error("mine.py", tmp_path))


class TestAModule:
    def test_is_imported(self, write: Write, tmp_path: Path) -> None:
        write("some_extension.py", MINE)
        loaded = load_extension("some_extension", tmp_path)
        assert (loaded.source, loaded.module) == ("some_extension", "some_extension")

    def test_that_is_imported_already_has_what_it_added(self, write: Write, tmp_path: Path) -> None:
        write("some_extension.py", MINE)
        __import__("some_extension")
        assert [one.name for one in load_extension("some_extension", tmp_path).additions] == ["mine"]

    def test_that_is_not_there(self, tmp_path: Path) -> None:
        found = error("no_such.extension", tmp_path)
        assert str(found) == "no_such.extension: there is no such module"
        assert found.hint == "install its package, or write a file as a path: ./my_fault.py"

    def test_that_misses_another(self, write: Write, tmp_path: Path) -> None:
        path = write("some_extension.py", "import no_such_module\n")
        message = str(error("some_extension", tmp_path))
        assert message.startswith(
            f"{path}:1: it cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"
        )


class TestOtherProcesses:
    def test_get_what_adds_their_kinds(self, write: Write, tmp_path: Path) -> None:
        path = write("mine.py", MINE)
        write("expected.py", MINE.replace("register", "expect"))
        load_extension("mine.py", tmp_path)
        load_extension("expected.py", tmp_path)
        assert environment_for("job") == {VARIABLE: str(path)}
        assert environment_for("fault of the mock") == {VARIABLE: ""}
        assert [Path(one.source).name for one in loaded_with("expectation", "job")] == ["mine.py", "expected.py"]

    def test_load_what_they_get(self, write: Write, tmp_path: Path) -> None:
        one, other = write("mine.py", MINE), write("other.py", MINE.replace("'mine'", "'other'"))
        load_from_environment({VARIABLE: f"{one}:{other}"})
        assert {"mine", "other"} < set(JOBS)

    def test_load_nothing_by_default(self) -> None:
        load_from_environment({})
        load_from_environment({VARIABLE: ""})
        assert set(JOBS) == {"own"}

    def test_the_source_of_what_was_added(self, write: Write, tmp_path: Path) -> None:
        path = write("mine.py", MINE)
        load_extension("mine.py", tmp_path)
        assert source_of("job", "mine") == str(path)
        assert source_of("job", "own") == source_of("expectation", "mine") == ""

    def test_the_source_of_what_a_module_added_that_it_imports(self, write: Write, tmp_path: Path) -> None:
        write("below_mine.py", MINE)
        path = write("mine.py", "import below_mine\n")
        load_extension("mine.py", tmp_path)
        assert source_of("job", "mine") == str(path)


class TestInstalledPackages:
    @pytest.fixture(autouse=True)
    def _installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        points = {"some.group": [EntryPoint("mine", "some_extension", "some.group")]}
        monkeypatch.setattr(extension, "_entry_points", lambda group: points.get(group, []))

    def test_are_loaded_by_their_group(self, write: Write) -> None:
        write("some_extension.py", MINE)
        load_installed("another.group")
        assert "mine" not in JOBS
        load_installed("some.group")
        assert "mine" in JOBS

    def test_that_fail_are_named(self, write: Write) -> None:
        write("some_extension.py", "1 / 0\n")
        with pytest.raises(ExtensionError, match=r"^extension 'mine' of the installed package .*ZeroDivisionError"):
            load_installed("some.group")


def test_the_own_come_first_and_what_is_added_after_them() -> None:
    registry = Registry("job", {"own": 1})
    add(registry, "added", 2)
    assert dict(registry) == {"own": 1, "added": 2}


def test_an_addition_says_where_it_was_made() -> None:
    add(Registry("job", {}), "placed", 1)
    line = sys._getframe().f_lineno - 1
    addition = additions("job")[-1]
    assert (addition.name, addition.place, addition.module) == ("placed", f"{__file__}:{line}", __name__)
    assert addition in additions()
    assert addition not in additions("expectation")


def test_a_name_of_the_projects_own_is_refused() -> None:
    with pytest.raises(NameTakenError, match=r"test_extension.py:\d+: there is a job 'own' already, .* project's own"):
        add(Registry("job", {"own": 1}), "own", 2)


def test_of_a_name_that_is_taken_both_places_are_said() -> None:
    registry: Registry[int] = Registry("expectation", {})
    add(registry, "mine", 1)
    first = sys._getframe().f_lineno - 1
    with pytest.raises(NameTakenError) as refused:
        add(registry, "mine", 2)
    second = first + 3
    assert str(refused.value) == (
        f"{__file__}:{second}: there is an expectation 'mine' already, added at {__file__}:{first}: "
        "give this one another name"
    )
    assert registry["mine"] == 1


def test_the_same_thing_may_be_added_twice() -> None:
    registry: Registry[str] = Registry("job", {})
    add(registry, "again", "x")
    add(registry, "again", "x")
    assert [one.name for one in additions("job")].count("again") == 1


def test_a_follower_gets_all_values_and_each_later_one() -> None:
    registry, got = Registry("job", {"own": 1}), list[int]()
    registry.follow(lambda *values: got.extend(values))
    add(registry, "later", 2)
    assert got == [1, 2]


def add(registry: "Registry[int] | Registry[str]", name: str, value: object) -> None:
    """As a package's function for extensions."""
    registry.add(name, value)  # type: ignore[arg-type]
