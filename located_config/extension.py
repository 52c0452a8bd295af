"""Python of the user's own that adds faults, expectations, kinds of programs or jobs: a file, or an importable module.

    --extend ./my_fault.py            on a command line, relative to the working directory; may be repeated
    extend: [./my_fault.py]           in a scenario, relative to the scenario's file
    ENRICHMENT_EXTEND                 the same in the environment, several separated as in PATH; child processes get it
    entry points                      of installed packages, a group for each of devkit, mockapi and pipeline

Loading one executes it, with all rights of who runs the command.
"""

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from types import ModuleType
from typing import Final
from zlib import crc32

from located_config.registry import Addition, Kind, NameTakenError, additions

VARIABLE: Final = "ENRICHMENT_EXTEND"
_RELATIVE: Final = "a path in a scenario's `extend` is relative to that file, one of --extend to the working directory"
HINT: Final = "docs/extend.md has a complete example of each kind"


class ExtensionError(Exception):
    """An extension that cannot be used: which, where in it, and why."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True)
class Extension:
    """One that is loaded. `source` is its absolute path, or the name of the module."""

    source: str
    module: str
    file: str
    additions: tuple[Addition, ...]


_loaded: dict[str, Extension | ExtensionError] = {}


def load_extension(written: str, directory: Path) -> Extension:
    """The extension that was written as a path, relative to `directory`, or as a module's name; loaded once a process.

    Raises ExtensionError.
    """
    source = _source(written, directory)
    if source not in _loaded:
        try:
            _loaded[source] = _load(source)
        except ExtensionError as error:
            _loaded[source] = error  # what it added before it failed is there, and cannot be added again
    found = _loaded[source]
    if isinstance(found, ExtensionError):
        raise found
    return found


def load_extensions(groups: Sequence[str], written: Sequence[str]) -> None:
    """Those of installed packages, by the groups of their entry points, of the process's environment, and those written
    on a command line. Raises ExtensionError.
    """
    load_installed(*groups)
    load_from_environment(os.environ)
    for one in written:
        load_extension(one, Path.cwd())


def load_from_environment(environment: Mapping[str, str]) -> None:
    """Load what the variable names. Raises ExtensionError."""
    for written in filter(None, environment.get(VARIABLE, "").split(os.pathsep)):
        load_extension(written, Path.cwd())


def load_installed(*groups: str) -> None:
    """Load those of installed packages. Raises ExtensionError, which names the package."""
    for group in groups:
        for point in _entry_points(group):
            try:
                load_extension(point.module, Path.cwd())
            except ExtensionError as error:
                raise ExtensionError(f"{_package(point)}: {error}", hint=error.hint) from error


@cache
def _entry_points(group: str) -> EntryPoints:
    """Those of installed packages, which take as long to find as a scenario to read."""
    return entry_points(group=group)


def loaded_with(*kinds: Kind) -> tuple[Extension, ...]:
    """The loaded extensions that added something of these kinds."""
    found = (one for one in _loaded.values() if isinstance(one, Extension))
    return tuple(one for one in found if any(added.kind in kinds for added in one.additions))


def environment_for(*kinds: Kind) -> dict[str, str]:
    """What a child process gets so that it has the additions of these kinds as well, and nothing it cannot import."""
    return {VARIABLE: os.pathsep.join(one.source for one in loaded_with(*kinds))}


def source_of(kind: Kind, name: str) -> str:
    """Of the loaded extension that added this: what loads it in another process; empty where none did.

    The extension may only register what another module defines, or import the module that registers it.
    """
    found = (one for one in _loaded.values() if isinstance(one, Extension))
    return next((one.source for one in found if any((a.kind, a.name) == (kind, name) for a in one.additions)), "")


def _source(written: str, directory: Path) -> str:
    is_path = written.endswith(".py") or "/" in written or os.sep in written
    return str((directory / written).expanduser().resolve()) if is_path else written


def _load(source: str) -> Extension:
    before = len(additions())
    module = _import_file(Path(source)) if Path(source).is_absolute() else _import_module(source)
    own = additions()
    added = tuple(one for at, one in enumerate(own) if at >= before or _is_of(one.module, module.__name__))
    if not added:
        raise ExtensionError(f"{source}: it registers nothing", hint=f"call a `register(…)`; {HINT}")
    return Extension(source, module.__name__, module.__file__ or "", added)


def _is_of(module: str, extension: str) -> bool:
    return f"{module}.".startswith(f"{extension}.")


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        what = "it is a directory" if path.is_dir() else "there is no such file"
        raise ExtensionError(f"{path}: {what}", hint=_RELATIVE)
    # The path is part of the name, as several may be called alike.
    name = f"extension_{path.stem.replace('.', '_')}_{crc32(os.fsencode(path)):08x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ExtensionError(f"{path}: it is not a Python file", hint="its name must end with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses and pydantic look for the names in annotations
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise _failed(str(path), error, lambda frame: frame.filename == str(path)) from error
    return module


def _import_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name is not None and _is_of(name, error.name):
            hint = "install its package, or write a file as a path: ./my_fault.py"
            raise ExtensionError(f"{name}: there is no such module", hint=hint) from error
        top = name.partition(".")[0]
        own = {top, f"{top}.py"}
        raise _failed(name, error, lambda frame: not own.isdisjoint(Path(frame.filename).parts)) from error


def _failed(source: str, error: Exception, is_own: Callable[[traceback.FrameSummary], bool]) -> ExtensionError:
    """The failure, and the last line of the user's own that led to it."""
    if isinstance(error, NameTakenError):
        return ExtensionError(str(error))
    if isinstance(error, SyntaxError) and error.filename is not None:
        return ExtensionError(f"{error.filename}:{error.lineno}: it is not valid Python: {error.msg}")
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if is_own(frame)]
    place = f"{own[-1].filename}:{own[-1].lineno}" if own else source
    line = f" (in `{own[-1].line}`)" if own and own[-1].line else ""
    text = f": {error}" if str(error) else ""
    return ExtensionError(f"{place}: it cannot be loaded: {type(error).__name__}{text}{line}")


def _package(point: EntryPoint) -> str:
    name = point.dist.name if point.dist else "?"
    return f"extension {point.name!r} of the installed package {name}"
