"""Reads a scenario file into its model; every error says file, line, column, what is wrong, and the near miss."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from devkit.errors import UsageError
from devkit.extensions import load_extensions_of
from devkit.programs.program import Program
from devkit.scenario.changed_document import OPTION, DocumentChange, changed, is_of_change
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import ResolvedScenario, resolve
from devkit.scenario.validate.evidence import check_evidence
from devkit.scenario.validate.sections import check_other_sections, check_sections
from devkit.scenario.validate.suggestions import belongs
from devkit.scenario.validate.warnings import find_warnings
from devkit.traffic.model import DIRECTORY
from devkit.yaml_input import SetBy, placed, read_yaml, refused
from located_config.near import near_miss, nearest
from located_config.place import Location
from located_config.problem import Problem, problems

SUFFIX = ".yaml"
_UNCHECKED = "`devkit scenario run --unchecked` plays it all the same"


@dataclass(frozen=True)
class LoadedFile:
    """A scenario as it was read: its document with the `changes` of the command line.

    `as_written` is the document of the file itself.
    """

    path: Path
    scenario: Scenario
    document: Any
    as_written: Any
    changes: tuple[DocumentChange, ...] = ()

    @cached_property
    def _resolved(self) -> ResolvedScenario:
        return resolve(self.scenario)

    def resolved(self, instead: Program | None = None) -> ResolvedScenario:
        """The resolved scenario; it is cached if no program takes the main one's place."""
        return self._resolved if instead is None else resolve(self.scenario, instead)

    def warnings(self, instead: Program | None = None) -> list[str]:
        """Warnings, each with its place."""
        warnings = placed(self.document, find_warnings(self.resolved(instead)), self.set_by)
        return [
            f"{warning.option or f'{self.path}:{warning.line}:{warning.column}'}: warning: {warning.text}"
            for warning in warnings
        ]

    def set_by(self, location: Location) -> str:
        """The option that set the value there; empty if the file has it."""
        return OPTION if is_of_change(location, self.changes, self.as_written) else ""


def load_scenario(path: Path, *, unchecked: bool = False, instead: Program | None = None) -> Scenario:
    """The scenario in a file, as `load_file` has it."""
    return load_file(path, unchecked=unchecked, instead=instead).scenario


def load_file(
    path: Path, written: Sequence[str] = (), *, unchecked: bool = False, instead: Program | None = None
) -> LoadedFile:
    """Load a file and its extensions, and apply each `PLACE=VALUE` of the command line.

    Raises InvalidFileError with every problem, or UsageError if the file cannot be read or a place is invalid.
    `unchecked` also accepts a scenario of which no run can prove anything. `instead` is the program that is played in
    place of the main one.
    """
    document = read_yaml(path)
    load_extensions_of(path, document)
    file = LoadedFile(path, _parse(path, document), document, document)
    if written:
        document, changes = changed(document, file.scenario, written)
        file = replace(file, document=document, changes=changes)
        file = replace(file, scenario=_parse(path, document, file.set_by))
    require_playable(file, unchecked=unchecked, instead=instead)
    return file


def with_document(file: LoadedFile, document: Any) -> LoadedFile:
    """The file with another document, which need not prove anything. Raises InvalidFileError."""
    other = replace(file, document=document, scenario=_parse(file.path, document, file.set_by))
    require_playable(other, unchecked=True)
    return other


def require_playable(file: LoadedFile, *, unchecked: bool = False, instead: Program | None = None) -> None:
    """Raises InvalidFileError with every problem that the model itself does not find."""
    document = file.document
    invalid = list(check_sections(document, file.resolved()))
    reported = [problem.location for problem in invalid]
    unproven = [] if unchecked else _find_unproven(file.resolved(instead))
    unreported = [problem for problem in unproven if not _is_reported(problem.location, reported)]
    if invalid or unreported:
        hint = None if invalid else _UNCHECKED
        raise refused(file.path, document, [*invalid, *unreported], hint=hint, set_by=file.set_by)


def _find_unproven(resolved: ResolvedScenario) -> list[Problem]:
    """Empty if a configuration is invalid, which another check reports."""
    try:
        return list(check_evidence(resolved))
    except ValidationError:
        return []


def _is_reported(location: Location, reported: Sequence[Location]) -> bool:
    """Whether a problem is already reported at this place, above or below it: with that fixed, it may be right."""
    return any(place[: len(location)] == location or location[: len(place)] == place for place in reported)


def _parse(path: Path, document: Any, set_by: SetBy = lambda _: "") -> Scenario:
    """If a section is invalid, the others are checked as well."""
    context = {DIRECTORY: path.absolute().parent}
    try:
        return Scenario.model_validate(document, context=context)
    except ValidationError as error:
        details = problems(error, Scenario, document, belongs)
        others = check_other_sections(document, details, context)
        raise refused(path, document, [*details, *others], set_by=set_by) from error


def find_scenario(name_or_file: str, directory: Path) -> Path:
    """The file of a scenario given by name or by path. Raises UsageError with the known names."""
    as_file = Path(name_or_file)
    if as_file.suffix in (SUFFIX, ".yml") or "/" in name_or_file:
        if as_file.is_dir():
            raise UsageError(f"{name_or_file} is a directory, not a scenario file")
        if not as_file.exists():
            known = sorted(path.stem for path in directory.glob(f"*{SUFFIX}"))
            near = nearest(as_file.stem, known)
            from_here = "" if as_file.is_absolute() else f"; the path is from {Path.cwd()}"
            hint = (
                f"did you mean {directory / near}{SUFFIX}?"
                if near
                else f"`devkit scenario new {as_file.stem}`, or `./justw new {as_file.stem}`, writes one here; "
                f"`devkit scenario list` shows those that have a name{from_here}"
            )
            raise UsageError(f"there is no scenario file {name_or_file}", hint=hint)
        return as_file
    known = sorted(path.stem for path in directory.glob(f"*{SUFFIX}"))
    if name_or_file not in known:
        raise UsageError(f"there is no scenario {name_or_file!r} in {directory}", hint=near_miss(name_or_file, known))
    return directory / f"{name_or_file}{SUFFIX}"
