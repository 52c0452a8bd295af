"""A copy of the repository that a mutant may edit, and proof of which processes ran the edited code.

The copy comes first on the path of the test, and so on that of all processes that the test starts. Behind the code of
each edited module stands a line that leaves a note, named after the process, when the module is loaded.
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from tests.mutants.model import Process

_ROOMS = ("pipeline", "mockapi", "devkit", "tests", "scenarios", "deploy")
_FILES = ("pyproject.toml", "docker-compose.yml")
_NOTE = """
import os as _os, pathlib as _pathlib, sys as _sys
_pathlib.Path({notes!r}, str(_os.getpid())).write_text("\\0".join(_sys.orig_argv), encoding="utf-8")
"""


class Tree:
    """A copy of the repository at `source`, in `directory`, which does not exist yet."""

    def __init__(self, source: Path, directory: Path) -> None:
        self._source = source
        self.root = directory / "tree"
        self._notes = directory / "notes"
        self.root.mkdir(parents=True)
        for room in _ROOMS:
            shutil.copytree(source / room, self.root / room, ignore=shutil.ignore_patterns("__pycache__"))
        for file in _FILES:
            shutil.copy2(source / file, self.root)
        self.restore()

    def restore(self) -> None:
        """Undo what was edited in `pipeline`, and forget the notes."""
        shutil.rmtree(self.root / "pipeline")
        shutil.copytree(self._source / "pipeline", self.root / "pipeline", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.rmtree(self._notes, ignore_errors=True)
        self._notes.mkdir()

    def watch(self, paths: Iterable[str]) -> None:
        """Have these modules leave notes; their paths are relative."""
        for path in dict.fromkeys(paths):
            with (self.root / path).open("a", encoding="utf-8") as file:
                file.write(_NOTE.format(notes=str(self._notes)))

    def loaded_in(self) -> frozenset[Process]:
        """The kinds of processes that loaded one of the watched modules."""
        return frozenset(
            process_kind(note.read_text(encoding="utf-8").split("\0")) for note in sorted(self._notes.iterdir())
        )

    def environment(self) -> dict[str, str]:
        """That of this process, with the copy first on Python's path; bytecode is never older than its source."""
        return os.environ | {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}


def process_kind(argv: list[str]) -> Process:
    """What a process is, by its command line."""
    if any("pyspark.worker" in argument for argument in argv):
        return "worker"
    if "pytest" in argv[:4]:
        return "test"
    return "driver"
