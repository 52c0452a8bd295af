"""The rooms that integration and conformance tests name: each is there, is reached, and none is forgotten."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from tests.integration_reach import Module, Reach, read_module, read_test
from tests.integration_rooms import OTHER_ROOMS, TOP, all_rooms, files_with_rooms, named_rooms, room_of, rooms_of

UNIT_ONLY = {
    "pipeline/capacity": "arithmetic, and a command that prints it: no integration test runs `pipeline plan`",
}
"""The rooms that no integration test is about, with the reason."""

Rooms = Mapping[str, Iterable[str]]
"""By file."""


def outside(named: Rooms, allowed: Rooms) -> dict[str, set[str]]:
    """The rooms of each file that are not among those which it may name."""
    wrong = {file: set(rooms) - set(allowed[file]) for file, rooms in named.items()}
    return {file: rooms for file, rooms in wrong.items() if rooms}


def unnamed(named: Rooms, rooms: Iterable[str], unit_only: Iterable[str]) -> set[str]:
    """The rooms that no file names without a reason, and those that have a reason and are named or not there."""
    missing = set(rooms).difference(OTHER_ROOMS, *named.values())
    return missing ^ set(unit_only)


@pytest.fixture(scope="module")
def named() -> Rooms:
    return {str(file): rooms_of(file) for file in files_with_rooms()}


def test_each_file_names_rooms_that_exist(named: Rooms) -> None:
    assert len(named) > 100
    assert outside(named, dict.fromkeys(named, all_rooms())) == {}
    assert {file: rooms for file, rooms in named.items() if len(set(rooms)) != len(tuple(rooms))} == {}


def test_each_file_reaches_the_rooms_that_it_names(named: Rooms) -> None:
    reach = Reach(read_module)
    assert outside(named, {file: reach.rooms(*read_test(Path(file))) for file in named}) == {}


def test_each_package_is_named_by_a_file(named: Rooms) -> None:
    assert unnamed(named, all_rooms(), UNIT_ONLY) == set()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "no assignments of ROOMS"),
        ("def f():\n    ROOMS = ('pipeline',)", "no assignments of ROOMS"),
        ("ROOMS = ('pipeline',)\nROOMS = ('mockapi',)", "2 assignments of ROOMS"),
        ("ROOMS = ()", r"ROOMS is not a tuple of names: \(\)"),
        ("ROOMS = ('pipeline')", "ROOMS is not a tuple of names: 'pipeline'"),
        ("ROOMS = tuple(all_rooms())", "ROOMS is not a tuple of names"),
        ("ROOMS = ('pipeline', 7)", "ROOMS is not a tuple of names"),
    ],
)
def test_a_file_without_rooms_is_refused(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^x\.py: {message}.*\nhint: name the rooms that it is about"):
        named_rooms(line, Path("x.py"))


def test_rooms_are_read_as_they_are_written() -> None:
    assert named_rooms("import no_such_module\nROOMS = ('pipeline/fetch', 'docs')", Path("x.py")) == (
        "pipeline/fetch",
        "docs",
    )


def test_a_room_that_is_not_there_or_not_reached_is_refused() -> None:
    assert outside({"x.py": ("pipeline/fetch", "pipeline/fetsch")}, {"x.py": all_rooms()}) == {
        "x.py": {"pipeline/fetsch"}
    }


@pytest.mark.parametrize(
    ("named", "unit_only", "wrong"),
    [
        (("devkit/cli", "mockapi"), (), set()),
        (("devkit/cli",), (), {"mockapi"}),
        (("devkit/cli",), ("mockapi",), set()),
        (("devkit/cli", "mockapi"), ("mockapi",), {"mockapi"}),
        (("devkit/cli", "mockapi"), ("mockapi/gone",), {"mockapi/gone"}),
    ],
)
def test_a_room_that_no_file_names_needs_a_reason(
    named: tuple[str, ...], unit_only: tuple[str, ...], wrong: set[str]
) -> None:
    assert unnamed({"x.py": named}, ("devkit/cli", "mockapi", "docs"), unit_only) == wrong


@pytest.mark.parametrize(
    ("path", "room"),
    [
        ("devkit/cli/main.py", "devkit/cli"),
        ("devkit/faults/kafka/cluster.py", "devkit/faults"),
        ("devkit/waiting.py", "devkit"),
        ("pipeline/pyproject.toml", "pipeline"),
        ("pyproject.toml", "devkit"),
        ("located_config/size.py", "located_config"),
        ("mockapi/gone/with_its_last_module.py", "mockapi/gone"),
        ("scenarios/retry-storm.yaml", "scenarios"),
        ("docs/runbooks/apply-lag.md", "docs/runbooks"),
        ("docs/faults.md", "docs"),
        ("docker-compose.yml", "deploy"),
        ("locks/all.lock", "justw"),
        ("tests/integration/test_apply.py", None),
        ("devkit.md", None),
        ("LICENSE", None),
    ],
)
def test_the_room_of_a_path(path: str, room: str | None) -> None:
    assert room_of(path) == room


def test_rooms_that_are_no_packages_have_files() -> None:
    assert [place for places in OTHER_ROOMS.values() for place in places if not (TOP / place).exists()] == []


MODULES = {
    "devkit.stack": "",
    "devkit.stack.front": "ARGV = [python, '-m', 'devkit.proxy']",
    "devkit.proxy": "",
    "devkit.proxy.__main__": "def f() -> None:\n    from devkit.proxy.toxics import cut",
    "devkit.proxy.toxics.cut": "",
    "pipeline.__main__": "OPERATIONS = {'claims': ('pipeline.claims.commands', 'claims')}",
    "pipeline.claims.commands": "",
    "pipeline.driver.batch": "",
    "mockapi.wiki.entity": "from . import circle",
    "mockapi.wiki.circle": "from mockapi.wiki import entity",
}
CONFTEST = """
import subprocess
from devkit.stack.front import Front
from mockapi.wiki import entity

TEXT = "mockapi.wiki.entity"

@pytest.fixture
def front(): return Front()

@pytest.fixture
def led(front): return front

@pytest.fixture
def job(): return run()

def run(): return subprocess.run([python, "-m", "pipeline", *arguments])
"""


def read(name: str) -> Module | None:
    is_package = any(other.startswith(f"{name}.") for other in MODULES)
    return Module(name, MODULES[name], is_package=is_package) if name in MODULES else None


PROXY, JOB = {"devkit/stack", "devkit/proxy"}, {"pipeline", "pipeline/claims"}


@pytest.mark.parametrize(
    ("test", "rooms"),
    [
        ("", set()),
        ("import devkit.stack", {"devkit/stack"}),
        ("from devkit.stack import front", PROXY),
        ("from devkit.stack.front import Front", PROXY),
        ("def test_it(front): ...", PROXY),
        ("def test_it(led): ...", PROXY),
        ("pytestmark = pytest.mark.usefixtures('front')", PROXY),
        ("def test_it(job): ...", JOB),
        ("must('python', '-m', 'pipeline')", JOB),
        ("a = 'pipeline'", set()),
        ("import no_such.module, devkit.no_such", set()),
        ("CODE = '''\nfrom pipeline.driver.batch import write\n'''", {"pipeline/driver"}),
        ("'''Import pipeline.driver.batch,\nimport it again.'''", set()),
        ("CRASH = Point('pipeline.driver.batch:write')", {"pipeline/driver"}),
        ("from mockapi.wiki.circle import CIRCLE", {"mockapi/wiki"}),
        ("run('retry-storm')", {"scenarios"}),
        ("PAGE = TOP / 'docs' / 'pytest.md'", {"docs"}),
        ("PAGE = 'docs/runbooks/apply-lag.md'", {"docs", "docs/runbooks"}),
        ("'''What docs of justw and scenarios tell.'''", set()),
    ],
)
def test_what_a_file_reaches(test: str, rooms: set[str]) -> None:
    conftest = Module("tests.integration.conftest", CONFTEST)
    assert Reach(read).rooms(Module("tests.integration.test_x", test), [conftest]) == rooms


def test_a_fixture_may_need_one_of_a_conftest_above() -> None:
    near = Module("tests.integration.proxy.conftest", "@pytest.fixture(autouse=True)\ndef without_toxics(led): ...")
    above = Module("tests.integration.conftest", CONFTEST)
    assert Reach(read).rooms(Module("tests.integration.proxy.test_x", ""), [near, above]) == PROXY
