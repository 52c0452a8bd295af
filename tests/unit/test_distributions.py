"""The four distributions of the repository: each needs what its room imports, and all have one version."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pydantic import BaseModel, Field

TOP = Path(__file__).parents[2]
ROOMS = ("devkit", "located_config", "mockapi", "pipeline")
# Needed without being imported by name; the comments beside them in the pyproject.toml files say by whom.
NOT_IMPORTED = {
    "devkit": {"flask", "flask-cors", "oxigraph"},
    "located_config": set[str](),
    "mockapi": {"httptools", "uvloop"},
    "pipeline": {"pandas", "protobuf"},
}
# Each lock's rooms.
LOCKS = {
    "locks/mockapi.lock": ("located_config", "mockapi"),
    "locks/pipeline.lock": ("located_config", "pipeline"),
    "locks/devkit.lock": ROOMS,
}


class Project(BaseModel):
    """The table `[project]`, as far as it is looked at here."""

    name: str
    version: str | None = None
    dynamic: list[str] = []
    dependencies: list[str]
    extras: dict[str, list[str]] = Field(default={}, alias="optional-dependencies")

    @property
    def needs(self) -> list[Requirement]:
        """Extras included."""
        return [
            Requirement(text)
            for text in (*self.dependencies, *(one for extra in self.extras.values() for one in extra))
        ]


def project(room: str) -> Project:
    path = TOP / "pyproject.toml" if room == "devkit" else TOP / room / "pyproject.toml"
    return Project.model_validate(tomllib.loads(path.read_text())["project"])


def distribution_of(room: str) -> str:
    return f"enrichment-{room.replace('_', '-')}"


def imported(tree: ast.AST) -> Iterator[str]:
    """The top-level packages that are imported when the code runs: not those for type checkers alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from imported(ast.Module(node.orelse, []))
        else:
            yield from imported(node)


def distributions(packages: set[str]) -> set[str]:
    """Whose the packages are. Raises KeyError for one that nothing installed here has."""
    owners = packages_distributions() | {room: [distribution_of(room)] for room in ROOMS}
    return {canonicalize_name(owners[package][0]) for package in packages}


@pytest.mark.parametrize("room", ROOMS)
def test_a_distribution_needs_what_its_room_imports(room: str) -> None:
    packages = {name for path in (TOP / room).rglob("*.py") for name in imported(ast.parse(path.read_text()))}
    used = distributions(packages - sys.stdlib_module_names - {room})
    declared = {canonicalize_name(one.name) for one in project(room).needs}
    assert used, f"{room} imports nothing: nothing was checked"
    assert {"not declared": used - declared, "not imported": declared - used} == {
        "not declared": set(),
        "not imported": NOT_IMPORTED[room],
    }


def test_what_is_imported_for_type_checkers_alone_is_not_needed() -> None:
    text = """
import json, aiohttp.client
if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
else:
    import boto3
def later():
    if now:
        from pydantic import BaseModel
from . import sibling
"""
    assert set(imported(ast.parse(text))) == {"json", "aiohttp", "boto3", "pydantic"}


@pytest.mark.parametrize("room", ROOMS)
def test_the_version_stands_in_one_place(room: str) -> None:
    version = project("devkit").version
    assert version
    if room != "devkit":
        assert (project(room).version, project(room).dynamic) == (None, ["version"])
    ours = {one.name: str(one.specifier) for one in project(room).needs if one.name in map(distribution_of, ROOMS)}
    assert ours == dict.fromkeys(ours, f"=={version}"), "`./justw lock` writes the version of the kit there"


@pytest.mark.parametrize("room", ROOMS)
def test_a_distribution_has_its_name_and_the_licence(room: str) -> None:
    directory = TOP if room == "devkit" else TOP / room
    assert project(room).name == distribution_of(room)
    assert (directory / "LICENSE").read_text() == (TOP / "LICENSE").read_text()


def pins(lock: str) -> dict[str, str]:
    """The lines of a lock that name a distribution, with version and marker."""
    lines = re.findall(r"^([\w.-]+)(==[^\\]+) \\$", (TOP / lock).read_text(), re.MULTILINE)
    return {canonicalize_name(name): rest.strip() for name, rest in lines}


def closure(wanted: list[Requirement]) -> set[str]:
    """All that these need on this machine, by what is installed here."""
    found: set[str] = set()
    left = [(one, extra) for one in wanted for extra in ("", *one.extras)]
    seen = set[tuple[str, str]]()
    while left:
        one, extra = left.pop()
        name = canonicalize_name(one.name)
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        found.add(name)
        inner = map(Requirement, requires(one.name) or ())
        fitting = (need for need in inner if need.marker is None or need.marker.evaluate({"extra": extra}))
        left += [(need, each) for need in fitting for each in ("", *need.extras)]
    return found


def checkout_group() -> list[Requirement]:
    groups = tomllib.loads((TOP / "pyproject.toml").read_text())["dependency-groups"]
    return [Requirement(text) for text in groups["checkout"]]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_what_its_distributions_need_in_the_versions_of_all(lock: str) -> None:
    ours = {distribution_of(one) for one in ROOMS}
    needs = [one for room in LOCKS[lock] for one in project(room).needs if one.name not in ours]
    if "devkit" in LOCKS[lock]:
        needs += checkout_group()
    locked, all_locked = pins(lock), pins("locks/all.lock")
    here = closure([one for one in needs if one.marker is None or one.marker.evaluate()])
    assert here - locked.keys() == set()
    assert {name for name in locked.keys() - here if ";" not in locked[name]} == set()
    versions = {name: rest.split(";")[0].strip() for name, rest in locked.items()}
    assert versions == {name: all_locked[name].split(";")[0].strip() for name in versions}
