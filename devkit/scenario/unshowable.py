"""Causes that no run of a scenario can show: by what the file itself says of its faults and its arms."""

from collections.abc import Iterator, Mapping
from typing import Any

from devkit.observe.arm_role import arms_named, in_role
from devkit.programs.consumer import ConsumerProgram
from devkit.programs.places import NOWHERE
from devkit.programs.program import Program
from devkit.scenario.cause import NamedCause
from devkit.scenario.configure import OF_KIT, config_difference, configured, keys_of, programs_of
from devkit.scenario.model import Scenario
from devkit.scenario.shown_cause import BY_OTHER_SETTINGS, differs_by_role
from located_config.near import near_miss, nearest
from located_config.problem import Problem


def unshowable(scenario: Scenario, instead: Program | None = None) -> Iterator[Problem]:
    """`instead` takes the place of the main program. The arms' configurations are valid."""
    for number, cause in enumerate(scenario.cause):
        for key, text in _problem(scenario, cause, instead):
            yield Problem(("cause", number, key), text)


def _problem(scenario: Scenario, cause: NamedCause, instead: Program | None) -> Iterator[tuple[str, str]]:
    if cause.fault is not None:
        faults = [rule.name for _, rule in scenario.rules_at()] + [item.name for _, item, _ in scenario.timeline_at()]
        if cause.fault not in faults:
            known = near_miss(cause.fault, faults) if faults else "mock.rules and timeline are empty"
            yield "fault", f"there is no fault {cause.fault!r}; {known}"
        for arm in arms_named(cause.absent_in, scenario.roles):
            if cause.fault in scenario.faults_of(arm):
                yield "absent_in", f"arm {arm} has the fault {cause.fault!r}, so it is not absent there"
    elif cause.timeline is not None:
        if not any(scenario.timeline_at()):
            yield "timeline", "the timeline is empty, so none of its faults can act"
    elif cause.differs is not None:
        difference = config_difference(scenario, instead)
        if _is_of_consumer(scenario, cause.differs):
            yield "differs", "a consumer logs no configuration, so nothing confirms it; name what it makes happen"
        elif cause.differs in difference and _is_of_kit(cause.differs):
            yield (
                "differs",
                "no program confirms it in its log; name what it makes happen: a fault, a refused start, or a setting "
                "that it changes",
            )
        elif cause.differs in difference:
            if not differs_by_role(difference[cause.differs], scenario.roles):
                yield "differs", f"{cause.differs} is the same in incident and fix"
        else:
            yield "differs", _alike(scenario, cause.differs, difference, instead)
    elif cause.event_time_skew is not None:
        if scenario.traffic.own_event_time is None:
            yield "event_time_skew", "events have no times of their own; write `event_times: { published: x1 }` there"
    elif not any(scenario.tried_first_in(arm) is not None or scenario.may_refuse(arm) for arm in scenario.roles):
        yield "refused", "no start may be refused: say in `tried_first` what is tried, or expect `refused` of an arm"


def _is_of_kit(key: str) -> bool:
    parts = key.split(".")
    of_program = parts[2:] if parts[0] == "programs" else parts
    return bool(of_program) and of_program[0] in OF_KIT and of_program[0] not in BY_OTHER_SETTINGS


def _is_of_consumer(scenario: Scenario, key: str) -> bool:
    parts = key.split(".")
    return parts[0] == "programs" and isinstance(programs_of(scenario).get(parts[1]), ConsumerProgram)


def _alike(scenario: Scenario, key: str, difference: Mapping[str, Any], instead: Program | None) -> str:
    arm = next(iter(scenario.roles))
    main, *_ = programs_of(scenario, instead).values()
    known = set(keys_of(configured(scenario, arm, NOWHERE, program=main).effective()))
    if key in known:
        return f"{key} is the same in all arms, so it is no cause"
    near = nearest(key, [*difference, *sorted(known)])
    return f"the pipeline has no key {key!r}; " + (f"did you mean {near!r}?" if near else near_miss(key, difference))


def nothing_named(scenario: Scenario) -> Iterator[Problem]:
    """Each arm that meets no fault, where the verdict could go by nothing else (`fault_proof.arms_without_any`)."""
    if scenario.cause:
        return
    rules = {arm: scenario.for_arm(arm).mock.rules for arm in scenario.roles}
    timelines = {arm: scenario.timeline_of(arm) for arm in scenario.roles}
    incidents = in_role(scenario.roles, "incident")
    timeline_alone = any(timelines[arm] for arm in incidents) and not any(rules[arm] for arm in incidents)
    for arm, role in scenario.roles.items():
        if not rules[arm] and not timelines[arm] and not (role == "fixed" and timeline_alone):
            yield Problem(
                ("arms", arm),
                "no fault acts in it and `cause` names nothing, so no run shows that the incident's cause was present",
                "give it a fault, or write `cause: [{ differs: KEY }]` with what incident and fix differ in",
            )


def same_arms(scenario: Scenario, instead: Program | None = None) -> Iterator[Problem]:
    """Each fixed arm that an incident arm is the same as: nothing in it could be the fix."""
    if any(program.command for program in programs_of(scenario, instead).values()):
        return  # it may read DEVKIT_ARM
    difference = config_difference(scenario, instead)
    for fixed in in_role(scenario.roles, "fixed"):
        for incident in in_role(scenario.roles, "incident"):
            tried = scenario.tried_first_in(fixed) == scenario.tried_first_in(incident)
            if tried and all(values[fixed] == values[incident] for values in difference.values()):
                yield Problem(
                    ("arms", fixed),
                    f"it is the same as arm {incident}, so the verdict says nothing about a fix",
                    f"write under arms.{incident} what caused the incident",
                )
