"""Checks for causes that no run of the scenario can show, by its faults and arms."""

from collections.abc import Iterator

from devkit.observe.arm_role import ROLES, ArmRole, arms_named, in_role
from devkit.scenario.cause import NamedCause
from devkit.scenario.resolve import KIT_KEYS, ResolvedScenario, kind_of
from devkit.verdict.shown_cause import BY_OTHER_SETTINGS, SEEN, differs_by_role
from located_config.dotted_keys import keys_of
from located_config.near import near_miss, nearest
from located_config.problem import Problem


def check_causes(resolved: ResolvedScenario) -> Iterator[Problem]:
    """Problems of `cause`. The arms' configurations are valid."""
    for number, cause in enumerate(resolved.scenario.cause):
        for key, text in _check_cause(resolved, cause):
            yield Problem(("cause", number, key), text)


def _check_cause(resolved: ResolvedScenario, cause: NamedCause) -> Iterator[tuple[str, str]]:
    scenario = resolved.scenario
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
        difference = resolved.difference
        if _is_consumer_key(resolved, cause.differs):
            yield "differs", "a consumer logs no configuration, so nothing confirms it; name what it makes happen"
        elif cause.differs in difference and _is_kit_key(cause.differs):
            yield "differs", f"no program confirms it; {_remedy_for(cause.differs)}"
        elif cause.differs in difference and (refused := _roles_without_config(resolved, cause.differs)):
            yield (
                "differs",
                f"a start that is refused logs no configuration, and each {refused[0]} arm may be refused its own; "
                "write `refused: TEXT` with a part of what it then reports",
            )
        elif cause.differs in difference:
            if not differs_by_role(difference[cause.differs], scenario.roles):
                yield "differs", f"{cause.differs} is the same in incident and fix"
        else:
            yield "differs", _explain_same_value(resolved, cause.differs)
    elif cause.event_time_skew is not None:
        if scenario.traffic.own_event_time is None:
            yield "event_time_skew", "events have no times of their own; write `event_times: { published: x1 }` there"
    elif not any(scenario.tried_first_in(arm) is not None or scenario.may_refuse(arm) for arm in scenario.roles):
        yield "refused", "no start may be refused: say in `tried_first` what is tried, or expect `refused` of an arm"


def can_be_cause(key: str) -> bool:
    """Whether a run can show that arms differ in the key, as a fault or as a setting of a program or process."""
    return not _is_kit_key(key) or key.startswith(("mock.", "timeline."))


def _is_kit_key(key: str) -> bool:
    return kind_of(key) in KIT_KEYS and kind_of(key) not in SEEN


def _remedy_for(key: str) -> str:
    kind, _, name = key.partition(".")
    if kind in ("mock", "timeline"):
        return f"write `fault: {name}`, with `absent_in` where its absence is the fix"
    return "name what it makes happen: a fault that acts, or a start that is refused"


def _roles_without_config(resolved: ResolvedScenario, key: str) -> list[ArmRole]:
    """The roles whose arms may all be refused their start, if only logged configurations show the key."""
    if kind_of(key) != BY_OTHER_SETTINGS:
        return []
    arms = resolved.scenario.roles
    return [role for role in ROLES if all(map(resolved.scenario.may_refuse, in_role(arms, role)))]


def _is_consumer_key(resolved: ResolvedScenario, key: str) -> bool:
    parts = key.split(".")
    return parts[0] == "programs" and parts[1] in resolved.programs and not resolved.programs[parts[1]].shows_running


def _explain_same_value(resolved: ResolvedScenario, key: str) -> str:
    first, *_ = resolved.arms.values()
    known, difference = set(keys_of(first.main.effective)), resolved.difference
    for name, program in first.programs.items():
        before = f"programs.{name}." if name else ""
        known |= {f"{before}{own_key}" for own_key in keys_of(first.launched[name])}
        if name != resolved.main_name:
            known |= {f"{before}{own_key}" for own_key in keys_of(program.effective)}
    if inside := [differing for differing in difference if differing.startswith(f"{key}.")]:
        return f"{key} is a section; name a key of it that differs: {', '.join(inside)}"
    if key in known:
        return f"{key} is the same in all arms, so it is no cause"
    near = nearest(key, [*difference, *sorted(known)])
    return f"no program has a key {key!r}; " + (f"did you mean {near!r}?" if near else near_miss(key, difference))


def check_faultless_arms(resolved: ResolvedScenario) -> Iterator[Problem]:
    """Arms without a fault, if nothing else can show the cause (`fault_proof.arms_without_any`)."""
    if resolved.scenario.cause:
        return
    incidents = [arm for arm in resolved.arms.values() if arm.role == "incident"]
    timeline_alone = any(arm.timeline for arm in incidents) and not any(arm.rules for arm in incidents)
    for arm in resolved.arms.values():
        if not arm.rules and not arm.timeline and not (arm.role == "fixed" and timeline_alone):
            yield Problem(
                ("arms", arm.name),
                "no fault acts in it and `cause` names nothing, so no run shows that the incident's cause was present",
                "give it a fault, or write `cause: [{ differs: KEY }]` with what incident and fix differ in",
            )


def check_same_arms(resolved: ResolvedScenario) -> Iterator[Problem]:
    """Fixed arms that are the same as an incident arm: nothing in them could be the fix."""
    if any(program.command for program in resolved.programs.values()):
        return  # it may read DEVKIT_ARM
    scenario, difference = resolved.scenario, resolved.difference
    for fixed in in_role(scenario.roles, "fixed"):
        for incident in in_role(scenario.roles, "incident"):
            tried = scenario.tried_first_in(fixed) == scenario.tried_first_in(incident)
            if tried and all(values[fixed] == values[incident] for values in difference.values()):
                yield Problem(
                    ("arms", fixed),
                    f"it is the same as arm {incident}, so the verdict says nothing about a fix",
                    f"write under arms.{incident} what caused the incident",
                )
