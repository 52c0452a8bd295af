"""Which integration tests a change runs: `python -m tests.rota [--whole] [--list] [PYTEST ARGUMENTS]`.

    base ─▶ changed paths ─▶ files of their rooms ─┐
    turn ─▶ a third of all other files ────────────┴▶ pytest, two processes

The base is the commit in `CI_BASE`, or the last that `.ci/rota.toml` names as proven by a whole run. Without either,
or if the change is of what every test stands on, all files run. The turn is a number in `.ci/rota.toml`; each landing
raises it, so that three landings run every file at least once.
"""

import functools
import os
import re
import subprocess
import sys
import tomllib
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from tests.import_graph import imports, reached
from tests.integration_rooms import TOP, files_with_rooms, room_of, rooms_of

FILE: Final = TOP / ".ci" / "rota.toml"
BASE_VARIABLE: Final = "CI_BASE"
TURNS: Final = 3
WHOLE: Final = "just test-more --whole"
# What every integration test stands on: a room's name, or a path.
_OF_ALL_ROOMS = frozenset({"devkit/stack", "devkit/guardian", "pipeline/config", "justw"})
_OF_ALL_PATHS = re.compile(
    r"(?!tests/unit/)(.*/)?(conftest\.py|pyproject\.toml)|\.ci/run"
    r"|tests/(rota|side_by_side|integration_rooms|import_graph|main_paths|cost)\.py"
)
PYTEST: Final = (
    "pytest",
    "-n",
    "2",
    "--dist",
    "loadgroup",
    "-p",
    "tests.side_by_side",
    "-m",
    "not slow and not main_path",
)


class Rota(BaseModel):
    """What `.ci/rota.toml` has. `proven` is a commit that passed a whole run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    proven: str
    turn: int


@dataclass(frozen=True)
class Selection:
    """Files to run, in their order, those that are left out, and why, for the log."""

    chosen: tuple[str, ...]
    left_out: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class IntegrationFiles:
    """`rooms` are those that each test file is about, `support` what of tests/ it imports, itself included, also where
    that is not there any more.
    """

    rooms: Mapping[str, Collection[str]]
    support: Mapping[str, Collection[str]]

    def select(self, changed: Collection[str] | None, turn: int) -> Selection:
        """What a change of these paths runs; `changed` None is no known base."""
        if changed is None:
            return self._all("no commit to compare with is known")
        if everything := sorted(path for path in changed if _is_of_all(path) or self._is_unknown(path)):
            return self._all(f"{everything[0]} changed, on which all stand")
        rooms = {room for room in map(room_of, changed) if room is not None}
        near = {file for file, named in self.rooms.items() if rooms & set(named)}
        near |= {file for file, support in self.support.items() if not set(support).isdisjoint(changed)}
        turns = {file for file in self.rooms.keys() - near if zlib.crc32(file.encode()) % TURNS == turn % TURNS}
        chosen = near | turns
        return Selection(
            tuple(sorted(chosen)),
            tuple(sorted(self.rooms.keys() - chosen)),
            (
                f"{len(near)} of {len(self.rooms)} files for the changed rooms: {', '.join(sorted(rooms)) or 'none'}",
                f"{len(turns)} of the others, as turn {turn} has them",
            ),
        )

    def _is_unknown(self, path: str) -> bool:
        """Whether it belongs to tests and no file imports it: a scenario, an image, a program that a test starts."""
        unit = path.startswith("tests/unit/")
        return path.startswith("tests/") and not unit and not any(path in support for support in self.support.values())

    def _all(self, reason: str) -> Selection:
        return Selection(tuple(sorted(self.rooms)), (), (f"all {len(self.rooms)} files: {reason}",))


def _is_of_all(path: str) -> bool:
    return _OF_ALL_PATHS.fullmatch(path) is not None or room_of(path) in _OF_ALL_ROOMS


def integration_files() -> IntegrationFiles:
    """Those of the checkout. Raises ValueError where one does not name its rooms."""
    sources = {_module(path): path for path in (TOP / "tests").rglob("*.py")}
    needed = functools.cache(lambda name: _imported(name, sources))
    files = files_with_rooms()
    return IntegrationFiles(
        {_relative(file): rooms_of(file) for file in files},
        {_relative(file): {_path(name) for name in reached([_module(file)], needed)} for file in files},
    )


def _imported(name: str, sources: Mapping[str, Path]) -> frozenset[str]:
    if name not in sources:
        return frozenset()
    modules = {one.module for one in imports(sources[name].read_text(), sources[name], name.rpartition(".")[0])}
    # A name that is imported from a module looks like a module of it that is not there.
    modules |= {module.rpartition(".")[0] for module in modules}
    return frozenset(module for module in modules if module.startswith("tests."))


def _module(path: Path) -> str:
    return ".".join(path.relative_to(TOP).with_suffix("").parts).removesuffix(".__init__")


def _path(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _relative(path: Path) -> str:
    return path.relative_to(TOP).as_posix()


def changed_since(commit: str) -> list[str] | None:
    """Paths that differ from the commit, files that git does not track included; None if it is not in the clone."""
    if _git("cat-file", "-e", f"{commit}^{{commit}}") is None:
        return None
    tracked = _git("diff", "--name-only", "--no-renames", "-z", commit, "--")
    untracked = _git("ls-files", "--others", "--exclude-standard", "-z")
    assert tracked is not None
    assert untracked is not None
    return [path for path in (tracked + untracked).split("\0") if path]


def _git(*arguments: str) -> str | None:
    done = subprocess.run(("git", *arguments), cwd=TOP, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def selected(*, whole: bool) -> Selection:
    """Of the checkout as it is."""
    files = integration_files()
    if whole:
        return files.select(None, 0)
    rota = Rota.model_validate(tomllib.loads(FILE.read_text()))
    base = os.environ.get(BASE_VARIABLE) or rota.proven
    changed = changed_since(base)
    print(f"rota: base {base or 'none'}: {'unknown' if changed is None else len(changed)} changed files")
    return files.select(changed, rota.turn)


def main(arguments: Sequence[str]) -> None:
    own = {"--whole", "--list"}
    given = [argument for argument in arguments if argument not in own]
    if any((TOP / argument.partition("::")[0]).exists() for argument in given if not argument.startswith("-")):
        os.execvp(PYTEST[0], (*PYTEST, *given))
    selection = selected(whole="--whole" in arguments)
    for reason in selection.reasons:
        print(f"rota: {reason}")
    if selection.left_out:
        print(f"rota: {len(selection.left_out)} files left out; `{WHOLE}` runs all: {' '.join(selection.left_out)}")
    if "--list" in arguments:
        print("\n".join(selection.chosen))
        return
    sys.stdout.flush()
    os.execvp(PYTEST[0], (*PYTEST, *given, *selection.chosen))


if __name__ == "__main__":
    main(sys.argv[1:])
