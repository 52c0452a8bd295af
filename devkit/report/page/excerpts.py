"""The last lines of each process that failed: what an operator would have looked at first."""

from dataclasses import dataclass
from pathlib import Path

from devkit.observe.logs.log_end import last_lines
from devkit.report.arm_record import ArmRecord, Process

_MOST_LINES = 24
_LONGEST_LINE = 320
_MOST_EXCERPTS = 8


@dataclass(frozen=True)
class Excerpt:
    """`file` is relative to the run's directory; `lines` are its last, without the frames of stack traces."""

    title: str
    reason: str
    file: str
    lines: tuple[str, ...]


def excerpts(directory: Path, arm: ArmRecord) -> tuple[tuple[Excerpt, ...], int]:
    """Of each process of the arm that ended by itself, and how many were left out: first and last ones are kept."""
    programs = {arm.program: arm.processes, **arm.beside}
    ended = [
        (name, process)
        for name, processes in programs.items()
        for process in processes
        if process.exit_code is not None
    ]
    kept = ended
    if len(ended) > _MOST_EXCERPTS:
        kept = [*ended[: _MOST_EXCERPTS // 2], *ended[-(_MOST_EXCERPTS // 2) :]]
    return tuple(_excerpt(directory, arm, *ending) for ending in kept), len(ended) - len(kept)


def _excerpt(directory: Path, arm: ArmRecord, program: str, process: Process) -> Excerpt:
    file = f"{arm.arm}/logs/{program}-{process.number}.log"
    of_program = f"{program}, " if arm.beside else ""
    return Excerpt(
        f"{of_program}process {process.number} ended at {process.end_s:.1f} s with exit code {process.exit_code}",
        "; ".join(text for text in (process.killed, process.dumped, process.failure[:_LONGEST_LINE]) if text),
        file,
        _last_lines(directory / file),
    )


def _last_lines(file: Path) -> tuple[str, ...]:
    try:
        return last_lines(file, _MOST_LINES) or ("(it wrote nothing)",)
    except OSError as error:
        return (f"(cannot be read: {error.strerror})",)
