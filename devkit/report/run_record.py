"""A run, read from its directory: the timeline, the result where there is one, the logs.

    run directory ─▶ RunRecord ─┬─ metadata, result, broke_off
                                └─ arms ─▶ ArmRecord: samples, processes, batches, faults, waits

Reports are made of this alone, so they can be made again at any time, and for a run that was cut short.
Times are seconds since the arm began.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from devkit.errors import UsageError
from devkit.observe.logs.logs import UnknownLine
from devkit.observe.timeline.kit_events import HarnessError
from devkit.observe.timeline.run_metadata import RunMetadata
from devkit.observe.timeline.timeline import TimelineEntry, read_timeline
from devkit.report.arm_record import ArmRecord, arm_record
from devkit.report.result import Result
from located_config.problem import in_line

TIMELINE = "events.jsonl"
RESULT = "result.json"


@dataclass(frozen=True)
class RunRecord:
    """`result` is None where the run has none, `broke_off` then says why, when it is known."""

    directory: Path
    metadata: RunMetadata
    arms: Mapping[str, ArmRecord]
    result: Result | None
    broke_off: str | None


def read_run(directory: Path) -> RunRecord:
    """Raises UsageError when `directory` holds no run, or one that this version cannot read."""
    timeline = directory / TIMELINE
    try:
        entries = list(read_timeline(timeline))
    except OSError as error:
        missing = not timeline.exists()
        raise UsageError(
            f"there is no run at {directory}" if missing else f"{timeline} cannot be read: {error.strerror}",
            hint="a run's directory is runs/NAME/TIME, the newest is runs/latest, both below where the run was started",
        ) from error
    first = next((entry.event for entry in entries if entry.event.event == "run"), None)
    if first is None:
        raise UsageError(f"{timeline} is no run's timeline: it has no line of kind 'run'")
    file = directory / RESULT
    try:
        metadata = RunMetadata.model_validate(first.fields if isinstance(first, UnknownLine) else first)
    except ValidationError as error:
        raise _of_another_version(directory, in_line(error, RunMetadata)) from error
    try:
        result = Result.model_validate_json(file.read_bytes()) if file.exists() else None
    except ValidationError as error:
        raise _of_another_version(directory, in_line(error, Result)) from error
    by_arm: dict[str, list[TimelineEntry]] = {}
    for entry in entries:
        if entry.arm is not None:
            by_arm.setdefault(entry.arm, []).append(entry)
    errors = [entry.event.error for entry in entries if isinstance(entry.event, HarnessError)]
    return RunRecord(
        directory=directory,
        metadata=metadata,
        arms={arm: arm_record(arm, of_arm) for arm, of_arm in by_arm.items()},
        result=result,
        broke_off=errors[-1] if errors else None,
    )


def _of_another_version(directory: Path, problems: str) -> UsageError:
    return UsageError(
        f"{directory} was written by another version of the kit: {problems}",
        hint="render it with the version that wrote it",
    )
