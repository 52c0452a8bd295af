"""The log files of a program: the lines that contain a text, and name a logger or the class of an exception."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from devkit.observe.logs.log_end import has_lines


@dataclass(frozen=True)
class LogFiles:
    """Standard output and standard error of the processes that the kit started. They do not change after the arm."""

    files: tuple[Path, ...] = ()

    @property
    def has_lines(self) -> bool:
        """Whether anything was written to any of them."""
        return any(map(has_lines, self.files))

    def count(self, text: str, class_name: str | None = None) -> int:
        """Number of lines that contain `text` and, if one is given, name `class_name`. Raises OSError."""
        named = class_pattern(class_name) if class_name is not None else None
        return sum(text in line and (named is None or named.search(line) is not None) for line in self._lines())

    def _lines(self) -> Iterator[str]:
        for file in filter(has_lines, self.files):
            with file.open(encoding="utf-8", errors="replace") as lines:
                yield from lines


NO_LOG_FILES = LogFiles()


def class_pattern(class_name: str) -> re.Pattern[str]:
    """Finds the name of a class or logger in a line. A log may leave out the package of a class, and so may
    `class_name`; a name without a capital (`kafka.conn`) is the whole name of a logger.
    """
    last = re.split(r"[.$]", class_name)[-1]
    name = last if last[:1].isupper() else class_name
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
