"""What the unit test files were recorded to depend on, and which of them a change affects."""

import json
import subprocess
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import coverage

from tests.selection.sources import Source, function_lines, read_source

Snapshot = dict[str, int]
Sources = dict[str, Source]
PYTHON: Final = "(Python)"
_HERE: Final = ("record", "recording", "sources")
FOR_ALL: Final = frozenset({PYTHON, "pyproject.toml", "locks/all.lock", *(f"tests/selection/{it}.py" for it in _HERE)})
"""What changes all tests."""
MADE_OF_NAMES: Final = ("/__init__.py", "/conftest.py")
"""Here a further name may change what others get; elsewhere only what is changed to use it does."""


@dataclass
class TestFile:
    """What a test file that passed ran and read."""

    __test__ = False

    snapshot: str
    ran: dict[str, list[str]]
    """Functions by file."""
    read: list[str]
    """Data files, and directories with a slash at the end."""
    seconds: float


@dataclass
class Record:
    """Of all runs up to now."""

    tests: dict[str, TestFile] = field(default_factory=dict)
    snapshots: dict[str, Snapshot] = field(default_factory=dict)
    sources: Sources = field(default_factory=dict)
    """By `path:checksum`."""
    at_import: dict[str, list[str]] = field(default_factory=dict)
    """By file: functions that ran while something was imported."""
    read_at_import: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def load(cls, file: Path) -> "Record":
        """An empty one if there is none, or one of another version."""
        try:
            record = cls(**json.loads(file.read_text()))
            record.tests = {name: TestFile(**test) for name, test in record.tests.items()}
            record.sources = {key: Source(**source) for key, source in record.sources.items()}
        except (FileNotFoundError, TypeError, ValueError):
            return cls()
        return record

    def save(self, file: Path) -> None:
        used = {test.snapshot for test in self.tests.values()}
        self.snapshots = {key: snapshot for key, snapshot in self.snapshots.items() if key in used}
        keys = {f"{path}:{checksum}" for snapshot in self.snapshots.values() for path, checksum in snapshot.items()}
        self.sources = {key: source for key, source in self.sources.items() if key in keys}
        partial = file.with_suffix(".partial")
        partial.write_text(json.dumps(asdict(self)))
        partial.replace(file)

    def affected(self, top: Path, now: Snapshot) -> set[str]:
        """The unit test files that a change since they passed may make fail, and those that did not pass."""
        sources = self.read_sources(top, now)
        tree = Tree(sources)
        touched = {key: tree.touched(self, then, now) for key, then in self.snapshots.items()}
        affected = set()
        for file in unit_test_files(now):
            test = self.tests.get(file)
            if test is None:
                affected.add(file)
                continue
            files, bodies, paths = touched[test.snapshot]
            if (
                file in files
                or not files.isdisjoint(FOR_ALL.union(test.read))
                or any(name in test.ran.get(path, ()) for path, name in bodies)
                or not paths.isdisjoint(test.ran)
                or not paths.isdisjoint(tree.test_modules(file))
            ):
                affected.add(file)
        return affected

    def read_sources(self, top: Path, now: Snapshot) -> Sources:
        sources = {}
        for path, checksum in now.items():
            if path.endswith(".py"):
                key = f"{path}:{checksum}"
                if key not in self.sources:
                    try:
                        self.sources[key] = read_source(
                            (top / path).read_text(), module_of(path), is_package=path.endswith("__init__.py")
                        )
                    except SyntaxError:
                        self.sources[key] = Source()
                sources[path] = self.sources[key]
        return sources

    def add_run(self, top: Path, now: Snapshot, directory: Path) -> None:
        """Takes over what one run wrote into `directory`."""
        runs = [json.loads(file.read_text()) for file in directory.glob("*.json")]
        (main,) = [run for run in runs if run["name"] == "main"]
        read: dict[str, set[str]] = defaultdict(set)
        for run in runs:
            for file, paths in run["read"].items():
                read[file] |= set(paths)
        ran = read_coverage(top, directory)
        for path, names in ran.pop("", {}).items():
            self.at_import[path] = sorted({*names, *self.at_import.get(path, ())})
        snapshot = str(zlib.crc32(json.dumps(now, sort_keys=True).encode()))
        self.snapshots[snapshot] = now
        edited = differences(now, take_snapshot(top))
        for file, seconds in main["seconds"].items():
            names = {path: sorted(names) for path, names in ran.get(file, {}).items()}
            used = sorted(now.keys() & read.pop(file, set()))
            if file in main["failed"] or not edited.isdisjoint({file, *names, *used}):
                self.tests.pop(file, None)
            elif file in now:
                self.tests[file] = TestFile(snapshot, names, used, round(seconds, 2))
        self.read_at_import |= {file: sorted(now.keys() & paths) for file, paths in read.items() if file in now}
        self.tests = {file: test for file, test in self.tests.items() if file in now}


class Tree:
    """The modules of the repository, and which names at their top depend on which others."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.modules = {module_of(path): path for path in sources}
        self.imports = {path: [self.resolve(name) for name in source.imports] for path, source in sources.items()}

    def resolve(self, dotted: str) -> tuple[str, str]:
        """File and name; the name is * for a whole module, the file is empty for one from elsewhere."""
        if dotted in self.modules:
            return self.modules[dotted], "*"
        module, _, name = dotted.rpartition(".")
        return self.modules.get(module, ""), name

    def test_modules(self, file: str) -> set[str]:
        """The test file, its conftests, and what of tests/ they import."""
        above = [f"{parent}/conftest.py" for parent in Path(file).parents if f"{parent}/conftest.py" in self.sources]
        seen, left = set(), [file, *above]
        while left:
            if (path := left.pop()) not in seen:
                seen.add(path)
                left += [other for other, _ in self.imports[path] if other.startswith("tests/")]
        return seen

    def touched(self, record: Record, then: Snapshot, now: Snapshot) -> tuple[set[str], set[tuple[str, str]], set[str]]:
        """Changed files; changed functions; and files with a changed name at their top or that import one."""
        files = differences(then, now)
        bodies: set[tuple[str, str]] = set()
        dirty: set[tuple[str, str]] = {
            (path, "*") for path, read in record.read_at_import.items() if not files.isdisjoint(read)
        }
        for path in files:
            old = record.sources.get(f"{path}:{then.get(path)}", Source())
            new = self.sources.get(path, Source())
            changed = {name for name, checksum in old.functions.items() if new.functions.get(name) != checksum}
            bodies |= {(path, name) for name in changed}
            names = {name.partition(".")[0] for name in changed.intersection(record.at_import.get(path, ()))}
            names |= {
                name for name in old.statements.keys() | {""} if old.statements.get(name) != new.statements.get(name)
            }
            if path not in then or (path.endswith(MADE_OF_NAMES) and old.statements.keys() != new.statements.keys()):
                names.add("")
            dirty |= {(path, name or "*") for name in names}
        self.spread(dirty, record.at_import)
        dirty_files = {path for path, _ in dirty}

        def is_dirty(path: str, name: str) -> bool:
            return path in dirty_files and (name == "*" or (path, name) in dirty or (path, "*") in dirty)

        importing = {path for path, imports in self.imports.items() if any(is_dirty(*it) for it in imports)}
        return files, bodies, dirty_files | importing

    def spread(self, dirty: set[tuple[str, str]], at_import: dict[str, list[str]]) -> None:
        """Adds the names that are made of changed names when a module is imported."""
        users: dict[str, list[tuple[str, tuple[str, str]]]] = defaultdict(list)
        for path, source in self.sources.items():
            ran = {name.partition(".")[0] for name in at_import.get(path, ())}
            for name, used in source.uses.items():
                called = {(path, "*"), *self.imports[path]} if name in ran else set()
                for file, other in {self.resolve(it) for it in used} | called:
                    users[file].append((other, (path, name or "*")))
        left = list(dirty)
        while left:
            path, name = left.pop()
            for other, user in users[path]:
                if user not in dirty and (name == other or "*" in (name, other)):
                    dirty.add(user)
                    left.append(user)


def differences(then: Snapshot, now: Snapshot) -> set[str]:
    return {path for path in then.keys() | now.keys() if then.get(path) != now.get(path)}


def module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def unit_test_files(now: Iterable[str]) -> list[str]:
    return sorted(path for path in now if path.startswith("tests/unit/") and Path(path).match("test_*.py"))


def take_snapshot(top: Path) -> Snapshot:
    """Checksums of all files that git does not ignore, and of the names in each directory."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=top, check=True, capture_output=True).stdout.decode().split("\0")
    files = {path: zlib.crc32((top / path).read_bytes()) for path in listed if path and (top / path).is_file()}
    files[PYTHON] = zlib.crc32(sys.version.encode())
    names: dict[str, set[str]] = defaultdict(set)
    for path in files:
        while path:
            path, _, name = path.rpartition("/")
            names[f"{path}/" if path else ""].add(name)
    return files | {path: zlib.crc32("\0".join(sorted(inside)).encode()) for path, inside in names.items()}


def read_coverage(top: Path, directory: Path) -> dict[str, dict[str, set[str]]]:
    """By test file, "" for none: the functions that ran, by their file."""
    ran: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    lines: dict[str, dict[int, str]] = {}
    for file in directory.glob(".coverage.*"):
        data = coverage.CoverageData(str(file))
        data.read()
        for measured in data.measured_files():
            if not Path(measured).is_relative_to(top) or not Path(measured).exists():
                continue
            path = str(Path(measured).relative_to(top))
            if path not in lines:
                lines[path] = function_lines(Path(measured).read_text())
            for line, contexts in data.contexts_by_lineno(measured).items():
                if name := lines[path].get(line):
                    for context in contexts:
                        ran[context][path].add(name)
    return ran
