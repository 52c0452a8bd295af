"""A rule of the pipeline that is switched off, and who has to notice."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Process = Literal["test", "driver", "worker"]


class StaleMutantError(Exception):
    """The pipeline's source is no longer what a mutant was written for."""


@dataclass(frozen=True)
class Replacement:
    """`old` stands exactly once in the file at `path`, which is relative to the repository."""

    path: str
    old: str
    new: str

    def applied(self, text: str) -> str:
        """The file's text with the replacement. Raises StaleMutantError."""
        found = text.count(self.old)
        if found != 1:
            raise StaleMutantError(f"{self.path}: {self.old!r} is there {found} times, and not once: adapt the mutant")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Mutant:
    """A way to lose rule number `rule`. `what` is switched off; `test` is the node id of the test that catches it.

    `says` is a regular expression for what the test's failure says, so that it fails for the right reason. `where` the
    changed code has to be loaded: in the test's own process, in the driver of a pipeline process, in a Python worker of
    Spark.
    """

    rule: int
    what: str
    replacements: tuple[Replacement, ...]
    test: str
    says: str
    where: frozenset[Process]

    def __post_init__(self) -> None:
        re.compile(self.says)

    def apply(self, root: Path) -> None:
        """Edit the tree at `root`. Raises StaleMutantError, and then nothing is changed."""
        texts: dict[Path, str] = {}
        for replacement in self.replacements:
            file = root / replacement.path
            texts[file] = replacement.applied(texts.get(file) or file.read_text(encoding="utf-8"))
        for file, text in texts.items():
            file.write_text(text, encoding="utf-8")
