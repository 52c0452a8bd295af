"""Runs the steps of an arm in order, up to the first that fails.

Without steps the programs are started at once. With steps, a step starts the main program, and `until` counts once all
steps are done.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from devkit.observe.audit.arrivals import read_topic
from devkit.observe.timeline.action_outcomes import StepOutcome
from devkit.observe.timeline.kit_events import StepEnded
from devkit.play.arm.arm import Arm
from devkit.play.arm.start import start_main
from devkit.play.arm.until import ArmStatus, reached
from devkit.programs.operator_command import RunningCommand, run_command
from devkit.programs.places import CONFIG_FILE
from devkit.programs.program import ConfiguredProgram
from devkit.scenario.arm_step import ArmStep, Awaited, OperatorCommand, Start
from devkit.scenario.placeholders import filled, placeholder_value
from devkit.traffic.moments import to_milliseconds
from located_config.duration import format_duration
from pipeline.kafka.record_quirks import record_time_ms

_STOP_TIMEOUT = timedelta(seconds=60)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Done:
    """The end of a step. `did` says what was observed."""

    holds: bool
    did: str
    exit_code: int | None = None
    output: str = ""
    timed_out: bool = False


class ArmSteps:
    """The steps of one arm. `status` gives what conditions are checked against."""

    def __init__(self, arm: Arm, status: Callable[[], ArmStatus]) -> None:
        self._arm, self._status = arm, status
        self._steps = arm.scenario.arms[arm.name].steps
        self._begun_s: float | None = None
        self._command: RunningCommand | None = None
        arm.state.steps = [StepOutcome(number=number, step=str(step)) for number, step in enumerate(self._steps, 1)]

    def advance(self) -> None:
        """Run steps as far as possible now. Raises StackError."""
        for index, step in enumerate(self._steps):
            outcome = self._arm.state.steps[index]
            if outcome.holds:
                continue
            if outcome.holds is False:
                return
            if self._begun_s is None:
                self._begun_s = self._arm.clock.now_s()
                outcome = outcome.model_copy(update={"from_s": round(self._begun_s, 3)})
                self._arm.state.steps[index] = outcome
                done = self._begin(step, outcome)
            else:
                done = self._check(step)
            if done is None:
                return
            self._end(index, outcome, done)
            if not done.holds:
                return

    def _end(self, index: int, outcome: StepOutcome, done: Done) -> None:
        self._begun_s, self._command = None, None
        ended = outcome.model_copy(
            update={
                "holds": done.holds,
                "did": done.did,
                "exit_code": done.exit_code,
                "output": done.output,
                "timed_out": done.timed_out,
                "to_s": round(self._arm.clock.now_s(), 3),
            }
        )
        self._arm.state.steps[index] = ended
        self._arm.log.add(StepEnded(outcome=ended))
        which = f"{ended.number} of {len(self._steps)}, {self._steps[index].kind}"
        self._arm.log.say("step", f"{which}{'' if done.holds else ' failed'}: {ended.did}")

    def _begin(self, step: ArmStep, outcome: StepOutcome) -> Done | None:
        if step.start is not None:
            return self._start(step.start)
        if step.stop:
            self._arm.main.supervisor.end_gracefully()
        elif step.command is not None:
            self._run_command(step.command, outcome)
        return self._check(step)

    def _check(self, step: ArmStep) -> Done | None:
        if step.stop:
            return self._check_stopped()
        if step.command is not None:
            return self._check_command(step.command)
        if step.when is not None:
            is_so = step.when.holds(self._arm.faults.seen, self._arm.scenario.traffic.event_count)
            return Done(holds=True, did="it is so") if is_so else self._check_unreachable()
        assert step.expect is not None
        return self._check_expected(step.expect)

    def _start(self, start: Start) -> Done:
        main, arm = self._arm.main, self._arm
        if not main.is_started or main.supervisor.is_over:
            main.change(self._configure(start))
        arguments = filled(start.arguments, self._placeholder)
        addition = main.launch.first if start.position == "new" else main.launch.again
        addition = addition.with_arguments(arguments)
        if not main.is_started:
            start_main(arm, addition)
        elif main.supervisor.is_over:
            event = main.supervisor.start_again(main.launch, addition)
            arm.events[main.name].take(event)
            arm.faults.note(event)
        else:
            return Done(holds=False, did=f"the {main.label} still runs, or is started again by its supervisor")
        return Done(holds=True, did=f"process {main.supervisor.starts}" + "".join(f" {word}" for word in arguments))

    def _configure(self, start: Start) -> ConfiguredProgram:
        arm = self._arm
        if not start.configuration:
            return arm.main.configured
        return arm.resolved.main.with_settings(start.configuration).at(arm.places)

    def _check_stopped(self) -> Done | None:
        supervisor = self._arm.main.supervisor
        if supervisor.is_over or not self._arm.main.is_started:
            return Done(holds=True, did=f"ended with {', '.join(map(str, supervisor.exit_codes[-1:])) or 'nothing'}")
        if self._has_lasted(_STOP_TIMEOUT):
            return Done(
                holds=False, did=f"it had not ended within {format_duration(_STOP_TIMEOUT)} of SIGTERM", timed_out=True
            )
        return None

    def _run_command(self, command: OperatorCommand, outcome: StepOutcome) -> None:
        arm, main = self._arm, self._arm.main
        words = filled(command.argv, self._placeholder)
        name, logs = f"operator-{outcome.number}", main.context.logs
        arm.log.say("operator", " ".join(words))
        self._command = run_command(
            main.context.guardian, name, words, main.launch.environment, logs=logs, prefix=main.launch.prefix
        )
        arm.stopping.callback(self._command.kill)

    def _check_command(self, command: OperatorCommand) -> Done | None:
        running = self._command
        assert running is not None
        code = running.exit_code
        if code is None:
            if not self._has_lasted(command.within):
                return None
            running.kill()
            text = f"it had not ended within {format_duration(command.within)}, and was killed"
            return Done(holds=False, did=text, output=running.output(), timed_out=True)
        output = running.output()
        last = output.splitlines()[-1:]
        did = f"exit code {code}" + "".join(f": {line}" for line in last)
        return Done(holds=code == command.exit_code, did=did, exit_code=code, output=output)

    def _check_expected(self, awaited: Awaited) -> Done | None:
        main = self._arm.main
        refusal = main.supervisor.last_refusal
        if awaited.refused is not None and refusal is not None and awaited.refused.message not in refusal:
            return Done(holds=False, did=f"refused for another reason: {refusal}")
        values = reached(awaited, self._status(), main.name)
        if (
            values is None
            or (awaited.refused is not None and refusal is None)
            or (awaited.running and not main.is_running)
        ):
            by_time = any(condition.elapsed or condition.running_for for _, condition in awaited.inside())
            return None if by_time else self._check_unreachable()
        texts = [f"{name} {value:g}" for name, value in values.items()]
        return Done(holds=True, did=", ".join([*([f"refused: {refusal}"] if awaited.refused else []), *texts]) or "so")

    def _check_unreachable(self) -> Done | None:
        """A failed step if the awaited event can no longer come: the program was given up, or refused its start."""
        supervisor = self._arm.main.supervisor
        if not supervisor.is_over:
            return None
        if supervisor.gave_up:
            return Done(holds=False, did=f"the program's supervisor had given up after {supervisor.gave_up_after}")
        if supervisor.last_refusal is not None:
            return Done(holds=False, did=f"the program refused its start: {supervisor.last_refusal}")
        return None

    def _has_lasted(self, time: timedelta) -> bool:
        return self._begun_s is not None and self._arm.clock.now_s() - self._begun_s > time.total_seconds()

    def _placeholder(self, place: str) -> str:
        main = self._arm.main
        match place:
            case "python":
                return sys.executable
            case "config":
                _ = main.launch  # which writes it
                return str((main.context.directory / CONFIG_FILE).absolute())
            case "uncommitted_since":
                return self._uncommitted_since()
            case "revisions":
                return str(self._arm.revisions_file)
            case "dump_begun" | "dump_ended":
                return self._time_of_dump(has_ended=place == "dump_ended")
            case _:
                return placeholder_value(place, self._arm.name, self._arm.places, self._arm.topics)

    def _time_of_dump(self, *, has_ended: bool) -> str:
        dump = self._arm.traffic.dump
        assert dump is not None, "a check refuses the place without one"
        return to_milliseconds(dump.ended if has_ended else dump.begun)

    def _uncommitted_since(self) -> str:
        """The time of the first uncommitted event. Raises StackError if the source cannot be read."""
        furthest = self._arm.main.state.furthest
        times = [
            time_ms
            for topic in self._arm.topics.sources
            for record in read_topic(self._arm.bootstrap, topic)
            if record.offset >= furthest.get((topic, record.partition), 0)
            and (time_ms := record_time_ms(record.timestamp_ms)) is not None
        ]
        since_ms = min(times, default=self._arm.clock.wall_ms())
        moment = _EPOCH + timedelta(milliseconds=since_ms)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
