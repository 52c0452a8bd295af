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
Name = tuple[str, str]
PYTHON: Final = "(Python)"
_HERE: Final = ("importing", "record", "recording", "sources")
FOR_ALL: Final = frozenset({PYTHON, "pyproject.toml", "locks/all.lock", *(f"tests/selection/{it}.py" for it in _HERE)})
"""What changes all tests."""
MADE_OF_NAMES: Final = ("/__init__.py", "/conftest.py")
"""Here a further name may change what others get; elsewhere only what is changed to use it does."""


@dataclass
class Use:
    """What one test file, or the import of one module, ran and read."""

    ran: dict[str, list[str]]
    """Functions by file."""
    read: list[str]
    """Data files, and directories with a slash at the end."""

    def is_affected(self, change: "Change") -> bool:
        return (
            not change.files.isdisjoint(self.read)
            or any(name in self.ran.get(path, ()) for path, name in change.bodies)
            or not change.touched.isdisjoint(self.ran)
        )


@dataclass
class TestFile:
    """A test file that passed."""

    __test__ = False

    use: Use
    snapshot: str
    """Of the repository then."""
    seconds: float


@dataclass
class Change:
    """From a snapshot to now."""

    files: set[str]
    bodies: set[tuple[str, str]]
    """Functions, by file and name."""
    touched: set[str]
    """Files in which a name has another value after import, and those that import one."""


@dataclass
class Record:
    """Of all runs up to now."""

    tests: dict[str, TestFile] = field(default_factory=dict)
    snapshots: dict[str, Snapshot] = field(default_factory=dict)
    sources: Sources = field(default_factory=dict)
    """By `path:checksum`."""
    imports: dict[str, Use] = field(default_factory=dict)
    """By file; "" is what ran before anything was recorded, and between the tests."""

    @classmethod
    def load(cls, file: Path) -> "Record":
        """An empty one if there is none, or one of another version."""
        try:
            record = cls(**json.loads(file.read_text()))
            record.tests = {name: TestFile(**test | {"use": Use(**test["use"])}) for name, test in record.tests.items()}
            record.imports = {path: Use(**use) for path, use in record.imports.items()}
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
        changes = {key: tree.change(self, then, now) for key, then in self.snapshots.items()}
        affected = set()
        for file in unit_test_files(now):
            test = self.tests.get(file)
            if test is None:
                affected.add(file)
                continue
            change = changes[test.snapshot]
            if (
                not change.files.isdisjoint({file, *FOR_ALL})
                or test.use.is_affected(change)
                or self.imports[""].is_affected(change)
                or not change.touched.isdisjoint(tree.test_modules(file))
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
        read: dict[str, set[str]] = defaultdict(set)
        seconds: dict[str, float] = defaultdict(float)
        for run in runs:
            for file, paths in run["read"].items():
                read[file] |= now.keys() & paths
            for file, some in run["seconds"].items():
                seconds[file] += some
        failed = {file for run in runs for file in run["failed"]}
        ran = read_coverage(top, directory)
        snapshot = str(zlib.crc32(json.dumps(now, sort_keys=True).encode()))
        self.snapshots[snapshot] = now
        edited = differences(now, take_snapshot(top))
        for file in {"", *ran, *read, *seconds} & {"", *now}:
            use = Use({path: sorted(names) for path, names in ran[file].items()}, sorted(read[file]))
            if file not in seconds:
                self.imports[file] = use if file else self.imports.get(file, use)
            elif file in failed or not edited.isdisjoint({file, *use.ran, *use.read}):
                self.tests.pop(file, None)
            else:
                self.tests[file] = TestFile(use, snapshot, round(seconds[file], 2))
        self.tests = {file: test for file, test in self.tests.items() if file in now}


class Tree:
    """The modules of the repository, and which names at their top depend on which others."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.modules = {module_of(path): path for path in sources}
        self.imports = {path: [self.resolve(name) for name in source.imports] for path, source in sources.items()}
        self.users: dict[str, list[tuple[str, Name]]] = defaultdict(list)
        """By file: one of its names, and a name elsewhere that is made of it."""
        for path, source in sources.items():
            for name, used in source.uses.items():
                for file, other in map(self.resolve, used):
                    self.users[file].append((other, (path, name or "*")))

    def resolve(self, dotted: str) -> Name:
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

    def change(self, record: Record, then: Snapshot, now: Snapshot) -> Change:
        change = Change(differences(then, now), set(), set())
        dirty: set[Name] = set()
        for path in change.files:
            old = record.sources.get(f"{path}:{then.get(path)}", Source())
            new = self.sources.get(path, Source())
            change.bodies |= {(path, name) for name, body in old.functions.items() if new.functions.get(name) != body}
            names = {name for name in {"", *old.statements} if old.statements.get(name) != new.statements.get(name)}
            if path not in then or (path.endswith(MADE_OF_NAMES) and old.statements.keys() != new.statements.keys()):
                names.add("")
            dirty |= {(path, name or "*") for name in names}
        while True:
            self.spread(dirty)
            files = {path for path, _ in dirty}
            names = dirty | {(path, "*") for path in files}  # who imports a whole module may use any name of it
            whole = {path for path, name in dirty if name == "*"}
            change.touched = files | {
                path for path, imports in self.imports.items() if any(it in names or it[0] in whole for it in imports)
            }
            more = {(path, "*") for path, use in record.imports.items() if path and use.is_affected(change)} - dirty
            if not more:
                return change
            dirty |= more

    def spread(self, dirty: set[Name]) -> None:
        """Adds what is made of these names when a module is imported."""
        left = list(dirty)
        while left:
            path, name = left.pop()
            for used, user in self.users[path]:
                if user not in dirty and (name == used or "*" in (name, used)):
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
