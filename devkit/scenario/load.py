"""Reads a scenario file into its model; every error says file, line, column, what is wrong, and the near miss."""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError
from ruamel.yaml.comments import CommentedMap

from devkit.errors import UsageError
from devkit.extensions import load_extensions_of
from devkit.programs.places import NOWHERE
from devkit.programs.program import Program
from devkit.scenario.arm_name import ARMS, ArmName
from devkit.scenario.configure import configured, is_like_main, main_name, programs_of, tried_first
from devkit.scenario.impossible import impossible
from devkit.scenario.model import Scenario
from devkit.scenario.unanswerable import unanswerable
from devkit.yaml_input import read_yaml, refused
from located_config.model_keys import in_document
from located_config.near import near_miss
from located_config.place import Location, reaches
from located_config.problem import Problem, described, is_echo, problems

SUFFIX = ".yaml"
_KAFKA_DEFAULT_MESSAGE_BYTES = 1_048_588
# Key, headers and the batch around a record count towards the topic's limit as well.
_BATCH_OVERHEAD_BYTES = 256


def load_scenario(path: Path) -> Scenario:
    """The scenario in a file, once its extensions are loaded. Raises InvalidFileError with every problem, or UsageError
    when it cannot be read.
    """
    document = read_yaml(path)
    load_extensions_of(path, document)
    try:
        scenario = Scenario.model_validate(document)
    except ValidationError as error:
        raise refused(path, document, problems(error, Scenario, document)) from error
    found = [
        *_stack_keys(document, scenario),
        *_configurations(document, scenario),
        *_strangers(scenario),
        *(Problem(location, text) for location, text in impossible(scenario)),
    ]
    if found:
        raise refused(path, document, found)
    return scenario


def find_scenario(name_or_file: str, directory: Path) -> Path:
    """The file of a scenario given by name, or the file itself. Raises UsageError that lists what there is."""
    as_file = Path(name_or_file)
    if as_file.suffix in (SUFFIX, ".yml") or "/" in name_or_file:
        if as_file.is_dir():
            raise UsageError(f"{name_or_file} is a directory, not a scenario file")
        if not as_file.exists():
            raise UsageError(f"there is no scenario file {name_or_file}")
        return as_file
    known = sorted(path.stem for path in directory.glob(f"*{SUFFIX}"))
    if name_or_file not in known:
        raise UsageError(f"there is no scenario {name_or_file!r} in {directory}", hint=near_miss(name_or_file, known))
    return directory / f"{name_or_file}{SUFFIX}"


def _strangers(scenario: Scenario) -> Iterator[Problem]:
    """What one part of the file says of another, and the other does not know: rules that no request can match."""
    pages = [title.replace("_", " ") for title in scenario.traffic.pages]
    for number, rule in enumerate(scenario.mock.rules):
        base: Location = ("mock", "rules", number, "when")
        if rule.when.page is not None and rule.when.page.replace("_", " ") not in pages:
            text = f"no such page in traffic.pages ({', '.join(pages) or 'there is none'})"
            yield Problem((*base, "page"), text)
        if rule.when.wiki is not None and rule.when.wiki not in scenario.traffic.wikis:
            text = f"no such wiki in traffic.wikis ({', '.join(scenario.traffic.wikis)})"
            yield Problem((*base, "wiki"), text)
        for fault, why in rule.do.not_observable().items():
            yield Problem(("mock", "rules", number, "do", fault), f"it cannot be shown that it fired: {why}")
    for arm in ARMS:
        for number, expectation in enumerate(scenario.expect.of(arm)):
            location: Location = ("expect", arm, number, expectation.kind)
            for key, text in unanswerable(scenario, arm, expectation):
                yield Problem((*location, key) if key else location, text)
    limit = scenario.kafka.topics.source.max_message_bytes or _KAFKA_DEFAULT_MESSAGE_BYTES
    for title, page in scenario.traffic.pages.items():
        if page.event_bytes is not None and page.event_bytes + _BATCH_OVERHEAD_BYTES > limit:
            yield Problem(
                ("traffic", "pages", title, "event_bytes"),
                f"an event of {page.event_bytes} bytes is more than the source topic takes ({limit})",
                "raise kafka.topics.source.max.message.bytes",
            )


def _stack_keys(document: CommentedMap, scenario: Scenario) -> Iterator[Problem]:
    for name, program in programs_of(scenario).items():
        of_tries: list[Location] = [("tried_first", arm) for arm in ARMS] if name == main_name(scenario) else []
        for base in (*of_tries, *(base for arm in ARMS for base in _bases(scenario, arm, name))):
            for key in program.given_by_stack:
                location = (*base, *key)
                if reaches(document, location) == len(location):
                    yield Problem(location, "is given by the stack", "leave it out")


def _configurations(document: CommentedMap, scenario: Scenario) -> Iterator[Problem]:
    for arm, (name, program) in itertools.product(ARMS, programs_of(scenario).items()):
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
                yield from _refused(document, program, error, (("tried_first", arm), *bases))


def _refused(
    document: CommentedMap, program: Program, error: ValidationError, bases: Sequence[Location]
) -> Iterator[Problem]:
    """Each is told of the topmost place that has the value, or most of the way to it."""
    for detail in error.errors():
        if is_echo(detail):
            continue
        base = max(bases, key=lambda base: reaches(document, (*base, *detail["loc"])) - len(base))
        location = in_document(document, program.model, (*base, *detail["loc"]))
        yield described(detail, program.model, document, location)


def _bases(scenario: Scenario, arm: ArmName, name: str) -> tuple[Location, ...]:
    """Where the file may have a setting of a program of an arm, what lies on top first."""
    of_arm: Location = ("arms", arm)
    shared: Location = ("pipeline",)
    if not name:
        return of_arm, shared
    own: Location = ("programs", name, "configuration")
    return ((*of_arm, *own), of_arm, own, shared) if is_like_main(scenario, name) else ((*of_arm, *own), own)
