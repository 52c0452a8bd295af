"""Whether the arms showed the cause that a scenario names for its incident."""

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from pydantic import ValidationError

from devkit.observe.arm_end import EndByRefusal
from devkit.observe.arm_observation import ArmObservation, TimelineEvidence
from devkit.observe.arm_role import ROLES, ArmName, Roles, in_role
from devkit.observe.program_observation import ProgramObservation
from devkit.observe.settings import OtherSetting, setting_text
from devkit.report.result import CauseResult
from devkit.scenario.cause import NamedCause
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import ResolvedScenario, kind_of
from devkit.verdict.fault_proof import ByArm, arms_with, arms_without_any, unproven
from devkit.verdict.unmet_faults import not_started
from located_config.count import counted
from pipeline.driver.spark_slots import local_cluster

_SUPERVISOR = "supervisor."
BY_OTHER_SETTINGS = "raw_config"
"""No program logs it; a program confirms it by settings that differ from the declared ones."""
_PROCESS_KEYS = ("environment", "arguments")
"""Looked up in the process itself."""
_STEPS = "steps"
"""Taken by the kit itself."""
SEEN = (BY_OTHER_SETTINGS, *_PROCESS_KEYS, _STEPS)
"""The differences made by the kit that a run shows."""
_UNKNOWN = object()
_LOCAL = re.compile(r"local\[(\d+)\]")


def shown_causes(resolved: ResolvedScenario, played: Mapping[ArmName, ArmObservation]) -> tuple[CauseResult, ...]:
    """One result for each item of `cause`, in the file's order.

    A command in the main program's place need not confirm its settings if it logs no configuration.
    """
    scenario = resolved.scenario
    try:
        difference = resolved.difference
    except ValidationError:
        difference = {}  # a program of another kind knows none of these keys
    is_command = resolved.has_stand_in and resolved.main.command
    is_silent = is_command and all(observation.main.confirmed is None for observation in played.values())
    asked = [cause for cause in scenario.cause if not (is_silent and _is_program_setting(cause))]
    return tuple(_show(cause, scenario, played, difference) for cause in asked)


def _is_program_setting(cause: NamedCause) -> bool:
    return cause.differs is not None and not cause.differs.startswith((_SUPERVISOR, "programs."))


def _show(
    cause: NamedCause, scenario: Scenario, played: Mapping[ArmName, ArmObservation], difference: Mapping[str, Any]
) -> CauseResult:
    idle = not_started(scenario, played)
    evidence = {arm: seen.evidence for arm, seen in played.items() if arm not in idle}
    alone = all(named.fault is not None or named.timeline is not None for named in scenario.cause)
    if cause.timeline is not None:
        shown, did = _show_timeline(evidence, scenario.roles, alone=alone)
    elif cause.fault is not None:
        absent = scenario.absent_in(cause.fault)
        meeting = {arm: items for arm, items in evidence.items() if arm not in absent}
        if not meeting:  # then an arm that never ran is all that can show it
            meeting = {arm: played[arm].evidence for arm in idle if cause.fault in scenario.faults_of(arm)}
        shown, did = _show_fault(cause.fault, meeting, scenario.roles, alone=alone)
    elif cause.differs is not None:
        shown, did = _show_difference(cause.differs, played, difference.get(cause.differs), scenario.roles)
    elif cause.event_time_skew is not None:
        incidents = [arm for arm in in_role(scenario.roles, "incident") if arm in played]
        shown, did = _show_skew(cause.event_time_skew, played, incidents)
    else:
        assert cause.refused is not None
        shown, did = _show_refusal(cause.refused, played)
    return CauseResult(cause=str(cause), shown=shown, did=did)


def _show_fault(name: str, played: ByArm, roles: Roles, *, alone: bool) -> tuple[bool, str]:
    """`alone` is whether faults are all that the scenario names as its cause."""
    if not played:
        return True, "no arm that was played has to show it"
    if reasons := unproven(name, played, roles) or (alone and [*arms_without_any(played, roles)]):
        return False, "; ".join(reasons)
    acted = arms_with(name, played)
    return True, f"it acted in {', '.join(acted)}" if acted else "no arm that was played has to show it"


def _show_timeline(played: ByArm, roles: Roles, *, alone: bool) -> tuple[bool, str]:
    """In each arm that has such faults: a fault in one arm proves nothing about a fix that met none."""
    evidence = {arm: [item for item in items if isinstance(item, TimelineEvidence)] for arm, items in played.items()}
    acted = {arm: sum(item.fired and item.acted for item in items) for arm, items in evidence.items() if items}
    did = [f"{arm}: {number} of {counted(len(evidence[arm]), 'fault')} acted" for arm, number in acted.items()]
    without = [*arms_without_any(played, roles)] if alone else []
    return bool(acted) and all(acted.values()) and not without, "; ".join([*did, *without]) or "no arm has one"


def _show_difference(
    key: str, played: Mapping[ArmName, ArmObservation], values: Mapping[ArmName, Any] | None, roles: Roles
) -> tuple[bool, str]:
    if values is None or not differs_by_role(values, roles):
        return False, "incident and fix do not differ in it"
    if key.startswith(_SUPERVISOR):
        acted = [arm for arm, seen in played.items() if seen.main.restarts or seen.main.gave_up]
        return bool(acted), f"the supervisor acted in {', '.join(acted)}" if acted else "the supervisor never acted"
    if key == _STEPS:
        return _show_steps(played)
    if kind_of(key) == BY_OTHER_SETTINGS:
        return _show_other_settings(key, played, roles)
    confirmed = {arm: _find_confirmed(seen, key, values.get(arm)) for arm, seen in played.items()}
    is_of_process = kind_of(key) in _PROCESS_KEYS
    silent = [arm for arm, value in confirmed.items() if value is _UNKNOWN]
    if _may_be_silent(silent, played, roles):
        confirmed = {arm: value for arm, value in confirmed.items() if arm not in silent}
    else:
        problem = "was never started" if is_of_process else "did not confirm it in its log"
        return False, f"the program of {', '.join(silent)} {problem}"
    # What an arm leaves open the program derives, and says so.
    changed = {arm: value for arm, value in confirmed.items() if values.get(arm) not in (None, value)}
    if changed:
        otherwise = ", ".join(f"{arm} ran with {setting_text(value)}" for arm, value in changed.items())
        return False, f"{otherwise}, which is not what it was given"
    measured = ", ".join(f"{setting_text(value)} ({arm})" for arm, value in confirmed.items())
    if len({roles[arm] for arm in confirmed}) == len(ROLES) and not differs_by_role(confirmed, roles):
        return False, f"{measured}: the programs {'were started with' if is_of_process else 'logged'} no difference"
    return True, f"{measured}, as {'its process was started' if is_of_process else 'the program logged'}"


def _show_steps(played: Mapping[ArmName, ArmObservation]) -> tuple[bool, str]:
    """Whether each arm has taken all of its steps."""
    missing = [
        f"{arm} has not taken step {step.number}, {step.step}"
        for arm, seen in played.items()
        for step in seen.steps
        if not step.holds
    ]
    taken = [f"{counted(len(seen.steps), 'step')} ({arm})" for arm, seen in played.items()]
    return not missing, "; ".join(missing) or f"{', '.join(taken)}, all of them taken"


def _may_be_silent(silent: Sequence[ArmName], played: Mapping[ArmName, ArmObservation], roles: Roles) -> bool:
    """Whether all of these arms were refused their start, and another arm of the same role did run."""
    started_roles = {roles[arm] for arm in played if arm not in silent}
    return all(isinstance(played[arm].end, EndByRefusal) and roles[arm] in started_roles for arm in silent)


def _show_skew(
    least: timedelta, played: Mapping[ArmName, ArmObservation], incidents: Collection[ArmName]
) -> tuple[bool, str]:
    """One arm is enough: the fix may remove the skew, and with swapped arms the fixed one has it."""
    if not incidents:
        return True, "no arm that was played has to show it"
    highest_s = {
        arm: max((sample.event_time_skew_s or 0.0 for sample in seen.samples), default=0.0)
        for arm, seen in played.items()
    }
    measured = ", ".join(f"{seconds:.1f}s ({arm})" for arm, seconds in highest_s.items())
    return any(seconds >= least.total_seconds() for seconds in highest_s.values()), f"highest {measured}"


def _show_other_settings(key: str, played: Mapping[ArmName, ArmObservation], roles: Roles) -> tuple[bool, str]:
    """By the settings that differed from the declared ones, and between incident and fix."""
    settings = {arm: _find_other_settings(seen, key) for arm, seen in played.items()}
    silent = [arm for arm, changed in settings.items() if changed is None]
    if not _may_be_silent(silent, played, roles):
        return False, f"the program of {', '.join(silent)} logged no configuration"
    settings = {arm: changed for arm, changed in settings.items() if changed is not None}
    by_arm = [f"{arm}: {_format_settings(changed)}" for arm, changed in settings.items() if changed]
    measured = "; ".join(by_arm) or "nothing otherwise"
    both = len({roles[arm] for arm in settings}) == len(ROLES)
    if not (differs_by_role(settings, roles) if both else any(settings.values())):
        return False, f"it changed no setting that the programs ran with ({measured} than declared)"
    return True, f"{measured}, as the program logged"


def _find_other_settings(seen: ArmObservation, key: str) -> Mapping[str, OtherSetting] | None:
    program = seen.program(key.split(".")[1]) if key.startswith("programs.") else seen.main
    return program.other_settings if program else None


def _format_settings(settings: Mapping[str, OtherSetting]) -> str:
    return ", ".join(f"{key} {setting}" for key, setting in settings.items())


def _show_refusal(message: str, played: Mapping[ArmName, ArmObservation]) -> tuple[bool, str]:
    refusals = {
        arm: seen.tried_first.refusal if seen.tried_first else seen.main.refusal for arm, seen in played.items()
    }
    for arm, refusal in refusals.items():
        if refusal is not None and message in refusal:
            return True, f"{arm}: {refusal}"
    answers = "; ".join(f"{arm}: {refusal or 'it started'}" for arm, refusal in refusals.items())
    return False, answers


def differs_by_role(values: Mapping[ArmName, Any], roles: Roles) -> bool:
    """Whether any incident arm has another value than any fixed arm."""
    incidents, fixes = ([values[arm] for arm in in_role(roles, role) if arm in values] for role in ROLES)
    return any(incident != fixed for incident in incidents for fixed in fixes)


def _find_confirmed(seen: ArmObservation, key: str, given: Any) -> Any:
    """The value that the program logged, or its process was started with; `programs.NAME.…` is of that program. A key
    of a mapping, such as a metric in `metrics.rename`, has none where it was not given and the program logged the
    mapping without it.
    """
    program: ProgramObservation | None = seen.main
    parts: Sequence[str] = key.split(".")
    if parts[0] == "programs":
        program, parts = seen.program(parts[1]), parts[2:]
    if program is None:
        return _UNKNOWN
    if parts[0] == "environment":
        return _UNKNOWN if program.environment is None else program.environment.get(parts[1])
    if parts[0] == "arguments":
        return _UNKNOWN if program.command_line is None else _match_arguments(program.command_line, given)
    if parts[0] == "spark":  # where an arm does not set it, Spark says nothing of it
        return _UNKNOWN if program.spark is None else program.spark.get(".".join(parts))
    if parts in (["slots"], ["executors"]):
        return _read_master(str((program.spark or {}).get("spark.master")), parts[0])
    is_logged = program.confirmed is not None and parts[0] in program.confirmed
    return _look_up(program.confirmed, parts, absent=None if is_logged and given is None else _UNKNOWN)


def _match_arguments(command_line: Sequence[str], given: str | None) -> str | None:
    """`given` where the command line has these words in a row, else the whole of it."""
    if given is None:
        return None
    words = shlex.split(given)
    has_them = any(list(command_line[at : at + len(words)]) == words for at in range(len(command_line)))
    return given if has_them else shlex.join(command_line)


def _read_master(master: str, key: str) -> Any:
    if cluster := local_cluster(master):
        executors, cores = cluster
        return executors * cores if key == "slots" else executors
    local = _LOCAL.fullmatch(master)
    if local is None:
        return _UNKNOWN
    return int(local[1]) if key == "slots" else None


def _look_up(settings: Any, parts: Sequence[str], absent: object) -> Any:
    """A key may have dots of its own, such as `max.request.size`. `absent` is returned for a key that is not there."""
    if not parts:
        return settings
    if not isinstance(settings, Mapping):
        return _UNKNOWN
    for length in range(1, len(parts) + 1):
        if (name := ".".join(parts[:length])) in settings:
            return _look_up(settings[name], parts[length:], absent)
    return absent
