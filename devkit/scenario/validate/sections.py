"""Checks of a file beyond its model: invalid configurations of programs, and references between sections.

If a section does not fit the model, the sections that do not depend on it are checked all the same, so that a person
gets all mistakes at once.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from devkit.scenario.model import Scenario
from devkit.scenario.resolve import ResolvedArm, ResolvedProgram, ResolvedScenario, resolve
from devkit.scenario.source_location import once
from devkit.scenario.validate.expectations import check_expectations
from devkit.scenario.validate.followers import check_followers
from devkit.scenario.validate.patches import check_patches
from devkit.scenario.validate.suggestions import belongs
from devkit.scenario.validate.supervisor import check_supervisors
from devkit.scenario.validate.timeline import check_timeline
from devkit.scenario.validate.traffic import check_traffic
from located_config.model_keys import in_document
from located_config.near import near_miss
from located_config.place import Location, reaches
from located_config.problem import Problem, described, is_echo, key_in_message

_CONFIGURED = frozenset({"pipeline", "arms", "programs", "tried_first"})
_ALL = frozenset(Scenario.model_fields)
_CHECKS: tuple[tuple[frozenset[str], Callable[[Any, ResolvedScenario], Iterable[Problem]]], ...] = (
    (_CONFIGURED, lambda document, resolved: _check_stack_keys(document, resolved)),
    (_CONFIGURED, lambda document, resolved: _check_configurations(document, resolved)),
    (_CONFIGURED, lambda _, resolved: check_followers(resolved)),
    (frozenset({"mock", "arms", "traffic"}), lambda _, resolved: _check_rules(resolved.scenario)),
    (_ALL - {"name", "title", "incident"}, lambda _, resolved: check_expectations(resolved, are_playable=False)),
    (frozenset({"traffic"}), lambda _, resolved: check_patches(resolved.scenario)),
    (frozenset({"arms", "supervisor"}), lambda _, resolved: check_supervisors(resolved)),
    (_CONFIGURED | {"traffic", "kafka"}, lambda _, resolved: check_traffic(resolved)),
    (
        frozenset({"timeline", "mock", "arms", "traffic", "until", "kafka", "programs"}),
        lambda _, resolved: (Problem(location, text) for location, text in check_timeline(resolved)),
    ),
)
"""Each check with the sections that it looks at."""
_STAND_INS = {
    "name": "stands-in",
    "title": "stands in",
    "incident": {"reference": "none"},
    "traffic": {"rate": "1/s", "for": "1s"},
    "until": {"any": [{"drained": True}], "deadline": "1m"},
    "arms": {"incident": {}, "fixed": {}},
    "expect": {"incident": [{"drained": True}], "fixed": [{"drained": True}]},
}
"""Used in place of required sections that are invalid."""


def check_sections(document: Any, resolved: ResolvedScenario) -> Iterator[Problem]:
    """Problems of a document that fits the model."""
    for _, check in _CHECKS:
        yield from once(check(document, resolved))


def check_other_sections(document: Any, known: Sequence[Problem], context: Mapping[str, Any]) -> Iterator[Problem]:
    """Problems besides the `known` ones, in valid sections that do not depend on an invalid one.

    Empty if a known problem has no place in a section. `context` is that of the model.
    """
    wrong = {problem.location[0] for problem in known if problem.location}
    if len(wrong) == 0 or any(not problem.location for problem in known):
        return
    kept = {key: value for key, value in document.items() if key not in wrong}
    try:
        scenario = Scenario.model_validate({**_STAND_INS, **kept}, context=dict(context))
    except ValidationError:
        return  # the arms of a section differ from those of a stand-in
    resolved = resolve(scenario)
    for sections, check in _CHECKS:
        if not sections & wrong:
            yield from once(check(document, resolved))


def _check_rules(scenario: Scenario) -> Iterator[Problem]:
    """Rules of the mock with a page or wiki that the traffic does not have: no request can match them."""
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


def _check_stack_keys(document: Any, resolved: ResolvedScenario) -> Iterator[Problem]:
    for name, program in resolved.programs.items():
        starts: list[Location] = []
        if name == resolved.main_name:
            starts = [("tried_first", key) for key in resolved.scenario.tried_first]
            starts += [place for arm in resolved.arms.values() for place, _ in arm.starts]
        for base in (*starts, *(base for arm in resolved.arms.values() for base in arm.programs[name].sections)):
            for key in program.given_by_stack:
                location = (*base, *key)
                if reaches(document, location) == len(location):
                    yield Problem(location, "is given by the stack", "leave it out")


def _check_configurations(document: Any, resolved: ResolvedScenario) -> Iterator[Problem]:
    for arm, name in itertools.product(resolved.arms.values(), resolved.programs):
        program = arm.programs[name]
        if program.refusal:
            yield from _describe_refusal(document, program)
        elif program is arm.main:
            if arm.tried_first:
                yield from _describe_refusal(document, arm.tried_first)
            yield from _check_starts(document, arm)


def _check_starts(document: Any, arm: ResolvedArm) -> Iterator[Problem]:
    """Configurations of starts by steps."""
    for place, started in arm.starts:
        if started.launch.raw_config is not None:
            yield Problem(place, "nothing reads it, as the arm's file is its raw_config", "leave one of them out")
        elif started.refusal:
            yield from _describe_refusal(document, started)
        elif started.configured.topics != arm.main.configured.topics:
            text = "with it the program has other topics than the arm, whose topics are made before its first step"
            yield Problem(place, text, "leave out what names topics, and deferral.policy, which makes one needed")


def _depth(document: Any, base: Location, detail: ErrorDetails) -> int:
    """How many parts of the invalid place exist in a section of the file."""
    place = (*base, *detail["loc"])
    return reaches(document, place) + len(key_in_message(detail, document, place)) - len(base)


def _describe_refusal(document: Any, program: ResolvedProgram) -> Iterator[Problem]:
    """Each problem at the topmost place that has the value, or most of its path."""
    model = program.program.model
    for detail in program.refusal.errors() if program.refusal else ():
        if is_echo(detail):
            continue
        base = max(program.sections, key=lambda base: _depth(document, base, detail))
        location = in_document(document, model, (*base, *detail["loc"]))
        yield described(detail, model, document, location, belongs)
