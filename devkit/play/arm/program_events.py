"""Handles the log events of a program and the events of its process."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from devkit.errors import StackError
from devkit.observe.checkpoint import Checkpoint, OffsetRange
from devkit.observe.logs.first_errors import heap_dump_text
from devkit.observe.logs.logs import UnknownLine
from devkit.observe.stated_offsets import STATED_BY
from devkit.observe.timeline.kit_events import (
    ProcessEnded,
    ProcessOverLimit,
    ProcessRestarted,
    ProgramEvent,
    StartRefused,
    SupervisorGaveUp,
)
from devkit.play.arm.log import ArmLog
from devkit.programs.program_run import ProgramRun
from devkit.programs.program_state import retried_task
from pipeline.events import (
    ApplyStarted,
    BatchCommitted,
    BatchStarted,
    BatchWritten,
    Configuration,
    EffectiveSettings,
    Failed,
    HeapDumped,
    MetricsServed,
    Resumed,
    Started,
    StateCommitted,
    StoreRewound,
    TaskRetried,
    Waiting,
)

_COMMIT_STEPS = ("walCommit", "commitOffsets")
"""Spark's names for the steps of a batch that write to its checkpoint."""


class ProgramEvents:
    """Adds each event, in order, to the timeline and the program's state, and shows some to a person.

    `checkpoint` is the program's own; `clock` gives seconds since the arm began. An unreadable checkpoint is an error
    for the main program only.
    """

    def __init__(
        self, run: ProgramRun, log: ArmLog, checkpoint: Checkpoint, clock: Callable[[], float], *, is_main: bool
    ) -> None:
        self._state, self._view, self._name, self._label = run.state, run.view, run.name, run.label
        self._log, self._checkpoint, self._clock, self._is_main = log, checkpoint, clock, is_main

    def take(self, event: ProgramEvent) -> None:
        """Raises StackError if the main program repeats a batch whose offsets cannot be read from its checkpoint."""
        state, say = self._state, self._log.say
        if not isinstance(event, ProcessOverLimit | ProcessEnded | ProcessRestarted | SupervisorGaveUp | StartRefused):
            state.log[event.event] += 1
        state.has_words |= isinstance(event, Started | ApplyStarted | Failed)
        state.complaints.take(event, at_s=self._clock(), program=self._name, process=state.processes)
        # Its effective configuration has a file of its own.
        self._log.add(replace(event, effective=None) if isinstance(event, Configuration) else event)
        match event:
            case Started():
                state.process, state.has_run, state.written = state.processes, True, 0
                if event.start not in (None, "checkpoint") and state.batches.any_begun:
                    state.batches.begin_anew()
                ui = f", Spark UI {event.spark_ui}" if event.spark_ui != "off" else ""
                start = "" if event.start is None else f", from {event.start}"
                say(self._label, f"running{start}{ui}")
            case ApplyStarted():
                state.process, state.has_run = state.processes, True
                start = "the first mutation" if event.kept_in == "new" else f"mutation {event.next_offset}"
                say(self._label, f"running, from {start}")
            case StoreRewound():
                back = f"from mutation {event.expected_offset} to {event.store_offset}"
                say(self._label, f"goes back {back}, where the store is")
            case Configuration():
                state.confirmed = event.effective or state.confirmed
            case EffectiveSettings():
                state.spark = event.spark
            case BatchStarted():
                state.batch_began_s = self._clock()
                if state.batches.begin(event.batch, event.began_ms):
                    say("replay", f"batch {event.batch} again{self._format_offsets(event.batch)}")
            case BatchWritten():
                if event.seconds is not None and event.batch >= state.first_batch:
                    state.batch_times.append((self._clock(), event.seconds))
                    if state.is_warm:
                        state.warm_batches.append((self._clock(), event.seconds))
                state.is_warm, state.batch_began_s = True, None
                state.written = (state.written or 0) + 1
            case BatchCommitted() if event.batch >= state.first_batch:
                took_ms = sum(event.durations_ms.get(step, 0) for step in _COMMIT_STEPS)
                state.commits.append((self._clock(), took_ms / 1000))
            case StateCommitted():
                state.late_dropped = (state.late_dropped or 0) + event.late_dropped
                if event.watermark is not None:
                    seconds = datetime.fromisoformat(event.watermark).timestamp()
                    state.watermarks.append((self._clock(), seconds))
            case TaskRetried():
                state.retried.append(retried_task(event))
                say(self._label, self._format_retry(event.batch))
            case MetricsServed():
                state.metrics_url = event.url
            case UnknownLine(event=name, fields=fields) if name == STATED_BY:
                state.stated_offsets = fields
            case Waiting():
                say(self._label, f"waits before the next batch: {event.reason}")
            case Resumed():
                say(self._label, "goes on")
            case Failed():
                state.failures.append(event.error)
                if event.stalled:
                    state.stalls.append(event.error)
                say(self._label, event.error)
            case HeapDumped():
                say(self._label, heap_dump_text(event))
            case ProcessOverLimit():
                say(self._label, event.text)
            case ProcessEnded():
                self._end_process(self._clock())
                state.process, state.metrics_url = None, None
                say(self._label, f"process {event.process} ended with exit code {event.exit_code}")
            case StartRefused():
                say(self._label, f"refused its start: {event.reason}")
            case SupervisorGaveUp():
                say(self._label, f"given up by its supervisor after {event.after}")
            case ProcessRestarted():
                state.processes = event.process
                state.process = None if self._view.says_when_it_runs else state.processes
                if event.by == "operator":
                    say("restart", f"process {event.process}, by the operator", moment="restart")
                    return
                whence = ", from the checkpoint" if self._view.has_checkpoint else ""
                say("restart", f"process {event.process}{whence}", moment="restart")

    def _end_process(self, at_s: float) -> None:
        state = self._state
        if state.written is not None:
            state.written_by_process.append((at_s, state.written))
        if state.is_warm and state.batch_began_s is not None:
            state.warm_batches.append((at_s, at_s - state.batch_began_s))
        state.written, state.batch_began_s, state.is_warm = None, None, False

    def _format_retry(self, batch: int | None) -> str:
        """A program that is not the kit's may have no Spark, and has no slow lane."""
        is_of_kit = self._view.says_when_it_runs
        text = "Spark lost an executor and ran a task again" if is_of_kit else "ran a task again"
        if batch is not None:
            return f"{text}, of batch {batch}"
        return f"{text}, of a round of the slow lane" if is_of_kit else text

    def _format_offsets(self, batch: int) -> str:
        if not self._view.has_checkpoint:
            return ""
        try:  # now, as Spark removes files of old batches before the arm's end
            return f": {describe(self._checkpoint.range_of(batch))}"
        except StackError:
            if self._is_main:
                raise
            return ""


def describe(batch: OffsetRange) -> str:
    """The offsets of a batch as text, with partition and topic if there are several."""
    several = len({topic for topic, _ in batch.end}) > 1
    return ", ".join(
        f"offsets {batch.start.get((topic, partition), 0)} to {end - 1}"
        + (f" of {topic}/{partition}" if several else f" of partition {partition}" if len(batch.end) > 1 else "")
        for (topic, partition), end in sorted(batch.end.items())
        if end > batch.start.get((topic, partition), 0)
    )
