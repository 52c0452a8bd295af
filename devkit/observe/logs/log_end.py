"""The last lines of a log, without the frames of stack traces."""

import re
from collections.abc import Iterable
from pathlib import Path

from devkit.short_text import shorten
from located_config.count import counted

_LONGEST_LINE = 320
_TAIL_BYTES = 64 * 1024
_JAVA_FRAME = re.compile(r"\s+at [\w.$/<>]+\(.*\)$|\s+\.\.\. \d+ more$")
_PYTHON_FRAME = re.compile(r"\s+File \".*\", line \d+, in ")
_PROBLEM = re.compile(r"(?:[Ee]rror|ERROR|Exception)\b.*:")
_PYTHON_SOURCE = re.compile(r"    +\S")


def last_lines(file: Path, most: int) -> tuple[str, ...]:
    """At most `most` lines, each cut where it is very long; the frames of a stack trace are one. Empty where nothing
    was written. Raises OSError.
    """
    with file.open("rb") as log:
        size = log.seek(0, 2)
        log.seek(max(0, size - _TAIL_BYTES))
        text = log.read().decode(errors="replace")
    lines = text.splitlines()[1 if size > _TAIL_BYTES else 0 :]
    return tuple(shorten(line, _LONGEST_LINE) for line in _without_frames(lines)[-most:])


def written(*logs: Path) -> str:
    """The paths of those that have a line, each once; of all where none has: it may be yet to come."""
    files = tuple(dict.fromkeys(logs))
    return " and ".join(str(log) for log in [log for log in files if has_lines(log)] or files)


def has_lines(log: Path) -> bool:
    """Whether anything was written to it; what cannot be looked at has nothing."""
    try:
        return log.stat().st_size > 0
    except OSError:
        return False


def in_short(words: str) -> str:
    """The last lines of a log for an error message: first the one that names the problem, which may not be the last,
    then all of them.
    """
    lines = words.splitlines() or [words]
    naming = next((line for line in reversed(lines) if _PROBLEM.search(line)), lines[-1]).strip()
    return naming if len(lines) == 1 else "\n".join([naming, "its last lines:", *(f"  {line}" for line in lines)])


def _without_frames(lines: Iterable[str]) -> list[str]:
    """The frames of a stack trace become one line."""
    kept: list[str] = []
    frames, in_python = 0, False
    for line in lines:
        is_python = bool(_PYTHON_FRAME.match(line))
        if is_python or _JAVA_FRAME.match(line):
            frames, in_python = frames + 1, is_python
        elif not (in_python and _PYTHON_SOURCE.match(line)) and line.strip():
            if frames:
                kept.append(_frames(frames))
            frames, in_python = 0, False
            kept.append(line)
    return [*kept, _frames(frames)] if frames else kept


def _frames(count: int) -> str:
    return f"    … {counted(count, 'frame')}"
