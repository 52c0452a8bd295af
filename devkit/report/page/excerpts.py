"""The last lines of each process that failed: what an operator would have looked at first."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from devkit.report.arm_record import ArmRecord, Process

_MOST_LINES = 24
_LONGEST_LINE = 320
_TAIL_BYTES = 64 * 1024
_MOST_EXCERPTS = 8
_JAVA_FRAME = re.compile(r"\s+at [\w.$/<>]+\(.*\)$|\s+\.\.\. \d+ more$")
_PYTHON_FRAME = re.compile(r"\s+File \".*\", line \d+, in ")
_PYTHON_SOURCE = re.compile(r"    +\S")


@dataclass(frozen=True)
class Excerpt:
    """`file` is relative to the run's directory; `lines` are its last, without the frames of stack traces."""

    title: str
    said: str
    file: str
    lines: tuple[str, ...]


def excerpts(directory: Path, arm: ArmRecord) -> tuple[tuple[Excerpt, ...], int]:
    """Of each process of the arm that ended by itself, and how many were left out: first and last ones are kept."""
    programs = {arm.program: arm.processes, **arm.beside}
    ended = [(name, one) for name, found in programs.items() for one in found if one.exit_code is not None]
    kept = ended
    if len(ended) > _MOST_EXCERPTS:
        kept = [*ended[: _MOST_EXCERPTS // 2], *ended[-(_MOST_EXCERPTS // 2) :]]
    return tuple(_excerpt(directory, arm, *one) for one in kept), len(ended) - len(kept)


def _excerpt(directory: Path, arm: ArmRecord, program: str, process: Process) -> Excerpt:
    file = f"{arm.arm}/logs/{program}-{process.number}.log"
    of_program = f"{program}, " if arm.beside else ""
    return Excerpt(
        f"{of_program}process {process.number} ended at {process.end_s:.1f} s with exit code {process.exit_code}",
        "; ".join(text for text in (process.killed, process.failure[:_LONGEST_LINE]) if text),
        file,
        _last_lines(directory / file),
    )


def _last_lines(file: Path) -> tuple[str, ...]:
    try:
        with file.open("rb") as log:
            size = log.seek(0, 2)
            log.seek(max(0, size - _TAIL_BYTES))
            text = log.read().decode(errors="replace")
    except OSError as error:
        return (f"(cannot be read: {error.strerror})",)
    lines = text.splitlines()[1 if size > _TAIL_BYTES else 0 :]
    return tuple(_cut(line) for line in _without_frames(lines)[-_MOST_LINES:]) or ("(it wrote nothing)",)


def _without_frames(lines: Iterable[str]) -> list[str]:
    """How deep it happened would hide what happened: the frames of a stack trace become one line."""
    found: list[str] = []
    frames, in_python = 0, False
    for line in lines:
        is_python = bool(_PYTHON_FRAME.match(line))
        if is_python or _JAVA_FRAME.match(line):
            frames, in_python = frames + 1, is_python
        elif not (in_python and _PYTHON_SOURCE.match(line)) and line.strip():
            if frames:
                found.append(_frames(frames))
            frames, in_python = 0, False
            found.append(line)
    return [*found, _frames(frames)] if frames else found


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…"


def _frames(count: int) -> str:
    return f"    … {count} frame{'s' if count > 1 else ''}"
