"""A run as its directory tells it: the timeline, the result where there is one, the logs.

    run directory ─▶ RunRecord ─┬─ about, result, broke_off
                                └─ arms ─▶ ArmRecord: samples, processes, batches, faults, waits

Everything a report shows comes from here, so it can be made again at any time, and of a run that was cut short.
Times are seconds since the arm began.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from devkit.errors import UsageError
from devkit.report.about import About
from devkit.report.arm_record import ArmRecord, arm_record
from devkit.report.result import Result

TIMELINE = "events.jsonl"
RESULT = "result.json"


@dataclass(frozen=True)
class RunRecord:
    """`result` is None where the run has none, `broke_off` then says why, when it is known."""

    directory: Path
    about: About
    arms: Mapping[str, ArmRecord]
    result: Result | None
    broke_off: str | None


def read_run(directory: Path) -> RunRecord:
    """Raises UsageError when `directory` holds no run, or one that this version cannot read."""
    timeline = directory / TIMELINE
    try:
        lines = list(_lines(timeline))
    except OSError as error:
        raise UsageError(
            f"{timeline} cannot be read: {error.strerror}",
            hint="a run's directory is runs/NAME/TIME, the newest is runs/latest",
        ) from error
    first = next((line for line in lines if line["kind"] == "run"), None)
    if first is None:
        raise UsageError(f"{timeline} is no run's timeline: it has no line of kind 'run'")
    try:
        about = About.model_validate(first)
        file = directory / RESULT
        result = Result.model_validate_json(file.read_bytes()) if file.exists() else None
    except ValidationError as error:
        raise UsageError(
            f"{directory} was written by another version of the kit: {_first_problem(error)}",
            hint="render it with the version that wrote it",
        ) from error
    by_arm: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        if isinstance(arm := line.get("arm"), str):
            by_arm.setdefault(arm, []).append(line)
    errors = [str(line.get("error")) for line in lines if line["kind"] == "harness error"]
    return RunRecord(
        directory=directory,
        about=about,
        arms={arm: arm_record(arm, arm_lines) for arm, arm_lines in by_arm.items()},
        result=result,
        broke_off=errors[-1] if errors else None,
    )


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    """What is not a line of a timeline is left out: a killed run may end in half of one."""
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                parsed = json.loads(line)
            except ValueError:
                continue
            if isinstance(parsed, dict) and isinstance(parsed.get("kind"), str) and _is_time(parsed.get("t_s")):
                yield parsed


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _first_problem(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
