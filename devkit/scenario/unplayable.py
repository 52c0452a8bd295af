"""What keeps a file from being played although each of its sections is as the model wants it: configurations that the
programs refuse, and what one section says of another that does not know it.

Of a file in which a section is wrong by itself, the others are checked all the same, as far as they do not depend on
it: a person gets all mistakes at once.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from devkit.observe.arm_role import ArmName
from devkit.programs.places import NOWHERE
from devkit.programs.program import Program
from devkit.scenario.arm_step import Start
from devkit.scenario.configure import (
    configured,
    is_like_main,
    launch_settings,
    main_name,
    programs_of,
    started_with,
    tried_first,
)
from devkit.scenario.impossible import impossible
from devkit.scenario.misplaced import belongs
from devkit.scenario.model import Scenario
from devkit.scenario.unanswerable import unanswerable
from devkit.scenario.unfit_patches import unfit_patches
from devkit.scenario.unpublishable import unpublishable
from devkit.scenario.written import expected_at, once
from located_config.model_keys import in_document
from located_config.near import near_miss
from located_config.place import Location, reaches
from located_config.problem import Problem, described, is_echo

_CONFIGURED = frozenset({"pipeline", "arms", "programs", "tried_first"})
_ALL = frozenset(Scenario.model_fields)
_CHECKS: tuple[tuple[frozenset[str], Callable[[Any, Scenario], Iterable[Problem]]], ...] = (
    (_CONFIGURED, lambda document, scenario: _stack_keys(document, scenario)),
    (_CONFIGURED, lambda document, scenario: _configurations(document, scenario)),
    (frozenset({"mock", "arms", "traffic"}), lambda _, scenario: _rules(scenario)),
    (_ALL - {"name", "title", "incident"}, lambda _, scenario: _expectations(scenario)),
    (frozenset({"traffic"}), lambda _, scenario: unfit_patches(scenario)),
    (_CONFIGURED | {"traffic", "kafka"}, lambda _, scenario: unpublishable(scenario)),
    (
        frozenset({"timeline", "mock", "arms", "traffic", "until", "kafka", "programs"}),
        lambda _, scenario: (Problem(location, text) for location, text in impossible(scenario)),
    ),
)
"""Each check with the sections that it looks at."""
_STANDING_IN = {
    "name": "stands-in",
    "title": "stands in",
    "incident": {"reference": "none"},
    "traffic": {"rate": "1/s", "for": "1s"},
    "until": {"any": [{"drained": True}], "deadline": "1m"},
    "arms": {"incident": {}, "fixed": {}},
    "expect": {"incident": [{"drained": True}], "fixed": [{"drained": True}]},
}
"""In the place of sections that a file must have and that are wrong in it."""


def unplayable(document: Any, scenario: Scenario) -> Iterator[Problem]:
    """Where in the document, and what is wrong there."""
    for _, check in _CHECKS:
        yield from once(check(document, scenario))


def elsewhere_unplayable(document: Any, found: Sequence[Problem], context: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong besides what was found, in sections that are right by themselves and do not depend on a wrong one.

    Nothing where what was found has no place in a section. `context` is that of the model.
    """
    wrong = {problem.location[0] for problem in found if problem.location}
    if len(wrong) == 0 or any(not problem.location for problem in found):
        return
    kept = {key: value for key, value in document.items() if key not in wrong}
    try:
        scenario = Scenario.model_validate({**_STANDING_IN, **kept}, context=dict(context))
    except ValidationError:
        return  # the arms of one section are not those of another that stands in
    for sections, check in _CHECKS:
        if not sections & wrong:
            yield from once(check(document, scenario))


def _rules(scenario: Scenario) -> Iterator[Problem]:
    """What a rule of the mock says of the traffic, and the traffic does not know: no request can match it."""
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


def _expectations(scenario: Scenario) -> Iterator[Problem]:
    """Those that nothing in the file can meet or break."""
    yield from (
        Problem((*location, key) if key else location, text)
        for arm in scenario.roles
        for location, expectation in expected_at(scenario, arm)
        for key, text in unanswerable(scenario, arm, expectation)
    )


def _stack_keys(document: Any, scenario: Scenario) -> Iterator[Problem]:
    for name, program in programs_of(scenario).items():
        of_tries: list[Location] = (
            [
                *(("tried_first", arm) for arm in scenario.tried_first),
                *(place for arm in scenario.roles for place, _ in _configured_starts(scenario, arm)),
            ]
            if name == main_name(scenario)
            else []
        )
        for base in (*of_tries, *(base for arm in scenario.roles for base in _bases(scenario, arm, name))):
            for key in program.given_by_stack:
                location = (*base, *key)
                if reaches(document, location) == len(location):
                    yield Problem(location, "is given by the stack", "leave it out")


def _configurations(document: Any, scenario: Scenario) -> Iterator[Problem]:
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
            yield from _starts(document, scenario, arm, program, bases)


def _starts(
    document: Any, scenario: Scenario, arm: ArmName, program: Program, bases: Sequence[Location]
) -> Iterator[Problem]:
    """Configurations that a step gives a start of its own."""
    for place, start in _configured_starts(scenario, arm):
        if launch_settings(scenario, arm, main_name(scenario)).raw_config is not None:
            yield Problem(place, "nothing reads it, as the arm's file is its raw_config", "leave one of them out")
            continue
        try:
            found = started_with(scenario, arm, NOWHERE, start.configuration, program)
        except ValidationError as error:
            yield from _refused(document, program, error, (place, *bases))
            continue
        if found.topics != started_with(scenario, arm, NOWHERE, {}, program).topics:
            text = "with it the program has other topics than the arm, whose topics are made before its first step"
            yield Problem(place, text, "leave out what names topics, and deferral.policy, which makes one needed")


def _configured_starts(scenario: Scenario, arm: ArmName) -> Iterator[tuple[Location, Start]]:
    for number, step in enumerate(scenario.arms[arm].steps):
        if step.start is not None and step.start.configuration:
            yield ("arms", arm, "steps", number, "start", "configuration"), step.start


def _refused(document: Any, program: Program, error: ValidationError, bases: Sequence[Location]) -> Iterator[Problem]:
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
