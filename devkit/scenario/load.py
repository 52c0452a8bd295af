"""Reads a scenario file into its model; every error says file, line, column, what is wrong, and the near miss."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ruamel.yaml.comments import CommentedMap

from devkit.errors import UsageError
from devkit.extensions import load_extensions_of
from devkit.observe.arm_role import ArmName
from devkit.programs.places import NOWHERE
from devkit.programs.program import Program
from devkit.scenario.changed_document import OPTION, DocumentChange, changed, is_of_change
from devkit.scenario.configure import configured, is_like_main, main_name, programs_of, tried_first
from devkit.scenario.doubtful import doubtful
from devkit.scenario.impossible import impossible
from devkit.scenario.misplaced import belongs
from devkit.scenario.model import Scenario
from devkit.scenario.unanswerable import unanswerable
from devkit.scenario.unproving import unproving
from devkit.scenario.unpublishable import unpublishable
from devkit.scenario.written import expected_at, once
from devkit.traffic.model import DIRECTORY
from devkit.yaml_input import SetBy, placed, read_yaml, refused
from located_config.model_keys import in_document
from located_config.near import near_miss, nearest
from located_config.place import Location, reaches
from located_config.problem import Problem, described, is_echo, problems

SUFFIX = ".yaml"
_UNCHECKED = "`devkit scenario run --unchecked` plays it all the same"


@dataclass(frozen=True)
class LoadedFile:
    """A scenario as it was read: the document that it is, and what of that the command line had set otherwise.

    `as_written` is the document of the file itself.
    """

    path: Path
    scenario: Scenario
    document: Any
    as_written: Any
    changes: tuple[DocumentChange, ...] = ()

    def warnings(self, instead: Program | None = None) -> list[str]:
        """What is doubtful in it, each with its place."""
        found = placed(self.document, doubtful(self.scenario, instead), self.set_by)
        return [f"{one.option or f'{self.path}:{one.line}:{one.column}'}: warning: {one.text}" for one in found]

    def set_by(self, location: Location) -> str:
        """The option that set what stands there, empty where the file itself does."""
        return OPTION if is_of_change(location, self.changes, self.as_written) else ""


def load_scenario(path: Path, *, unchecked: bool = False, instead: Program | None = None) -> Scenario:
    """The scenario in a file, as `load_file` has it."""
    return load_file(path, unchecked=unchecked, instead=instead).scenario


def load_file(
    path: Path, written: Sequence[str] = (), *, unchecked: bool = False, instead: Program | None = None
) -> LoadedFile:
    """The scenario in a file, once its extensions are loaded, with what `PLACE=VALUE` of the command line say. Raises
    InvalidFileError with every problem, or UsageError when it cannot be read, or a place is none.

    `unchecked` takes one also where no run of it can show what it is there to show. `instead` is the program that will
    be played in place of the main one.
    """
    document = read_yaml(path)
    load_extensions_of(path, document)
    file = LoadedFile(path, _model(path, document), document, document)
    if written:
        document, changes = changed(document, file.scenario, written)
        file = replace(file, document=document, changes=changes)
        file = replace(file, scenario=_model(path, document, file.set_by))
    require_playable(file, unchecked=unchecked, instead=instead)
    return file


def require_playable(file: LoadedFile, *, unchecked: bool = False, instead: Program | None = None) -> None:
    """Raises InvalidFileError with every problem that its model does not know of."""
    scenario, document = file.scenario, file.document
    found = [
        *once(_stack_keys(document, scenario)),
        *once(_configurations(document, scenario)),
        *_strangers(scenario),
        *once(unpublishable(scenario)),
        *(Problem(location, text) for location, text in impossible(scenario)),
    ]
    if found:
        raise refused(file.path, document, found, set_by=file.set_by)
    if not unchecked and (found := list(unproving(scenario, instead))):
        raise refused(file.path, document, found, hint=_UNCHECKED, set_by=file.set_by)


def _model(path: Path, document: Any, set_by: SetBy = lambda _: "") -> Scenario:
    try:
        return Scenario.model_validate(document, context={DIRECTORY: path.absolute().parent})
    except ValidationError as error:
        raise refused(path, document, problems(error, Scenario, document, belongs), set_by=set_by) from error


def find_scenario(name_or_file: str, directory: Path) -> Path:
    """The file of a scenario given by name, or the file itself. Raises UsageError that lists what there is."""
    as_file = Path(name_or_file)
    if as_file.suffix in (SUFFIX, ".yml") or "/" in name_or_file:
        if as_file.is_dir():
            raise UsageError(f"{name_or_file} is a directory, not a scenario file")
        if not as_file.exists():
            known = sorted(path.stem for path in directory.glob(f"*{SUFFIX}"))
            near = nearest(as_file.stem, known)
            hint = (
                f"did you mean {directory / near}{SUFFIX}?"
                if near
                else f"the path is from {Path.cwd()}; scenarios that have a name: {', '.join(known) or 'none'}"
            )
            raise UsageError(f"there is no scenario file {name_or_file}", hint=hint)
        return as_file
    known = sorted(path.stem for path in directory.glob(f"*{SUFFIX}"))
    if name_or_file not in known:
        raise UsageError(f"there is no scenario {name_or_file!r} in {directory}", hint=near_miss(name_or_file, known))
    return directory / f"{name_or_file}{SUFFIX}"


def _strangers(scenario: Scenario) -> Iterator[Problem]:
    """What one part of the file says of another, and the other does not know: rules that no request can match."""
    pages = [title.replace("_", " ") for title in scenario.traffic.titles]
    for place, rule in scenario.rules_at():
        base: Location = (*place, "when")
        page, wiki = rule.when.page, rule.when.wiki
        if page is not None and page.replace("_", " ") not in pages:
            remedy = scenario.traffic.remedy_for_page(page)
            yield Problem((*base, "page"), f"there is no page {page!r} in traffic.pages", remedy)
        if wiki is not None and wiki not in scenario.traffic.wikis:
            remedy = near_miss(wiki, scenario.traffic.wikis)
            yield Problem((*base, "wiki"), f"there is no wiki {wiki!r} in traffic.wikis", remedy)
        for fault, why in rule.do.not_observable().items():
            yield Problem((*place, "do", fault), f"it cannot be shown that it fired: {why}")
    yield from once(
        Problem((*location, key) if key else location, text)
        for arm in scenario.roles
        for location, expectation in expected_at(scenario, arm)
        for key, text in unanswerable(scenario, arm, expectation)
    )


def _stack_keys(document: CommentedMap, scenario: Scenario) -> Iterator[Problem]:
    for name, program in programs_of(scenario).items():
        of_tries: list[Location] = (
            [("tried_first", arm) for arm in scenario.tried_first] if name == main_name(scenario) else []
        )
        for base in (*of_tries, *(base for arm in scenario.roles for base in _bases(scenario, arm, name))):
            for key in program.given_by_stack:
                location = (*base, *key)
                if reaches(document, location) == len(location):
                    yield Problem(location, "is given by the stack", "leave it out")


def _configurations(document: CommentedMap, scenario: Scenario) -> Iterator[Problem]:
    for arm, (name, program) in itertools.product(scenario.roles, programs_of(scenario).items()):
        bases = _bases(scenario, arm, name)
        try:
            configured(scenario, arm, NOWHERE, name, program)
        except ValidationError as error:
            yield from _refused(document, program, error, bases)
            continue
        if name == main_name(scenario):
            try:
                tried_first(scenario, arm, NOWHERE, program)
            except ValidationError as error:
                yield from _refused(
                    document, program, error, (("tried_first", scenario.key_of(scenario.tried_first, arm)), *bases)
                )


def _refused(
    document: CommentedMap, program: Program, error: ValidationError, bases: Sequence[Location]
) -> Iterator[Problem]:
    """Each is told of the topmost place that has the value, or most of the way to it."""
    for detail in error.errors():
        if is_echo(detail):
            continue
        base = max(bases, key=lambda base: reaches(document, (*base, *detail["loc"])) - len(base))
        location = in_document(document, program.model, (*base, *detail["loc"]))
        yield described(detail, program.model, document, location, belongs)


def _bases(scenario: Scenario, arm: ArmName, name: str) -> tuple[Location, ...]:
    """Where the file may have a setting of a program of an arm, what lies on top first."""
    of_arm: Location = ("arms", arm)
    shared: Location = ("pipeline",)
    if not name:
        return of_arm, shared
    own: Location = ("programs", name, "configuration")
    return ((*of_arm, *own), of_arm, own, shared) if is_like_main(scenario, name) else ((*of_arm, *own), own)
