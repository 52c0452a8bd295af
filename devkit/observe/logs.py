"""What a pipeline process wrote: its own lines on standard output, exceptions in Spark's log on standard error."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# A nested class is named behind its outer one, `KafkaOffsets$StaleException`; a message may be missing.
_EXCEPTION = re.compile(r"(?:^|: )(?:[a-z_]\w*\.)+(?:\w+\$)*([A-Z]\w*(?:Exception|Error))(?:: (.+)|$)")


@dataclass(frozen=True)
class LoggedException:
    """An exception in a log: the class without its package, and the first line of its message."""

    process: int
    class_name: str
    message: str


def exceptions_in(log: Path, process: int) -> tuple[LoggedException, ...]:
    """Each distinct exception of a process's log, in the order of first appearance."""
    found: dict[LoggedException, None] = {}
    try:
        with log.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if match := _EXCEPTION.search(line.rstrip()):
                    found[LoggedException(process, match[1], match[2] or "")] = None
    except FileNotFoundError:
        return ()
    return tuple(found)


class LineTail:
    """Reads the JSON lines that a growing file has gained since the last look."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def new_lines(self) -> Iterator[dict[str, Any]]:
        """Whole lines only; what is not an object with an `event` (a library that prints) is left out."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            return
        end = data.rfind(b"\n") + 1
        self._offset += end
        for line in data[:end].splitlines():
            try:
                parsed = json.loads(line)
            except ValueError:
                continue
            if isinstance(parsed, dict) and isinstance(parsed.get("event"), str):
                yield parsed
