"""A guardian made of files: it starts nothing, and a test decides what its processes say and how they end."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil


@dataclass
class Process:
    """A process whose output and end the test decides."""

    argv: Sequence[str]
    env: Mapping[str, str]
    pid: int
    request: int
    stdout: Path
    stderr: Path
    exit_code: int | None = None
    killed: int = 0
    processes: list[psutil.Process] = field(default_factory=list)
    signals: list[int] = field(default_factory=list)

    def signal(self, number: int) -> None:
        self.signals.append(number)

    def tree(self) -> list[psutil.Process]:
        return self.processes

    def says(self, *lines: dict[str, Any] | str) -> None:
        with self.stdout.open("a") as file:
            file.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)

    def kill_tree(self) -> None:
        self.killed += 1

    def last_words(self, lines: int) -> str:
        return "error: no such topic"


@dataclass
class FileGuardian:
    """Starts nothing; hands out processes, which have said `lines` and ended with `exit_code` at once."""

    directory: Path
    run_id: str = "cafe"
    started: list[Process] = field(default_factory=list)
    lines: tuple[dict[str, Any], ...] = ()
    exit_code: int | None = None

    def spawn(
        self,
        name: str,
        argv: Sequence[str],
        *,
        logs: Path,
        env: Mapping[str, str],
        split: bool = False,
        scratch: Path | None = None,
        program: bool = False,
    ) -> Process:
        assert split
        assert program, "the run's state is to list it"
        logs.mkdir(exist_ok=True)
        number = len(self.started) + 1
        out, log = logs / f"{name}.out", logs / f"{name}.log"
        process = Process(argv, env, 1000 + number, number, out, log, self.exit_code)
        process.says(*self.lines)
        self.started.append(process)
        return process
