"""What an arm makes of what a program says of itself, and of what happens to its process."""

from typing import Any

from devkit.observe.checkpoint import Checkpoint, Range
from devkit.programs.run import ProgramRun
from devkit.scenario.arm.log import ArmLog


class ProgramEvents:
    """Fed with each event, in order: it goes into the timeline and the state, and may be told to a person."""

    def __init__(self, run: ProgramRun, log: ArmLog, checkpoint: Checkpoint) -> None:
        self._state, self._view, self._label = run.state, run.view, run.label
        self._log, self._checkpoint = log, checkpoint

    def take(self, line: dict[str, Any]) -> None:
        event, state = str(line.get("event")), self._state
        details = {key: value for key, value in line.items() if key not in ("event", "at", "in_force")}
        state.has_words |= event in ("started", "failed")
        batch_number = line.get("batch")
        again = event == "batch_started" and isinstance(batch_number, int) and state.batches.begin(batch_number)
        if again:
            details["replay"] = True
        self._log.add(event, **details)
        match event:
            case "started":
                state.process = state.processes
                ui = f", Spark UI {line['spark_ui']}" if line.get("spark_ui") not in (None, "off") else ""
                self._log.say(self._label, f"running, from {line.get('start')}{ui}")
            case "batch_started" if again and isinstance(batch_number, int):
                self._log.say("replay", f"batch {batch_number} again{self._offsets_of(batch_number)}")
            case "metrics" if isinstance(line.get("url"), str):
                state.metrics_url = line["url"]
            case "waiting":
                self._log.say(self._label, f"waits before the next batch: {line.get('reason')}")
            case "resumed":
                self._log.say(self._label, "goes on")
            case "failed":
                state.failures.append(str(line.get("error")))
                if line.get("stalled"):
                    state.stalls.append(str(line.get("error")))
                self._log.say(self._label, str(line.get("error")))
            case "process_ended":
                state.process, state.metrics_url = None, None
                self._log.say(self._label, f"process {line['process']} ended with exit code {line['exit_code']}")
            case "process_restarted":
                state.processes = int(line["process"])
                state.process = None if self._view.says_when_it_runs else state.processes
                self._log.say("restart", f"process {line['process']}, from the checkpoint")

    def _offsets_of(self, batch: int) -> str:
        if not self._view.shows_offsets:
            return ""
        return f": {describe(self._checkpoint.range_of(batch))}"


def describe(batch: Range) -> str:
    """The offsets of a batch, for a person."""
    return ", ".join(
        f"offsets {batch.start.get(partition, 0)} to {end - 1}"
        + (f" of partition {partition}" if len(batch.end) > 1 else "")
        for partition, end in sorted(batch.end.items())
        if end > batch.start.get(partition, 0)
    )
