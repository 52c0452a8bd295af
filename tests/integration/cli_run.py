"""A run of the command line as the tests see it: its timeline, its processes, its output."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil

from devkit.guardian.processes import RUN_VARIABLE, is_alive, marked
from devkit.waiting import wait_until

REPOSITORY = Path(__file__).parents[2]


@dataclass
class CliRun:
    """A `devkit` command that is running, and its evidence."""

    process: subprocess.Popen[str]
    out: Path
    output_file: Path

    @property
    def evidence(self) -> Path:
        """The directory of the run; what of a first play was short of time is in a directory of it."""
        return self.out / "latest"

    def timeline(self) -> list[dict[str, Any]]:
        file = self.evidence / "events.jsonl"
        lines = file.read_text().splitlines(keepends=True) if file.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def event(self, kind: str, **fields: Any) -> dict[str, Any] | None:
        return next(
            (
                line
                for line in self.timeline()
                if line["kind"] == kind and all(line.get(key) == value for key, value in fields.items())
            ),
            None,
        )

    def await_event(self, kind: str, deadline_s: float = 90, **fields: Any) -> dict[str, Any]:
        return self.await_condition(lambda: self.event(kind, **fields), f"{kind} {fields}", deadline_s)

    def await_condition(self, condition: Callable[[], Any], what: str, deadline_s: float = 90) -> Any:
        def check() -> Any:
            assert self.process.poll() is None or condition(), f"the command ended early:\n{self.output()}"
            return condition()

        return wait_until(check, what=what, deadline=timedelta(seconds=deadline_s))

    def run_id(self) -> str:
        return str(self.await_event("guardian")["run_id"])

    def directory(self) -> Path:
        return Path(self.await_event("guardian")["directory"])

    def processes(self) -> list[psutil.Process]:
        return marked(RUN_VARIABLE, self.run_id())

    def output(self) -> str:
        return self.output_file.read_text()

    def wait(self, deadline_s: float = 900) -> int:
        """The exit code. On a busy machine a run goes slower, and may be played once more."""
        return self.process.wait(deadline_s)


def devkit(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A command that ends by itself, with its output."""
    return subprocess.run(
        [sys.executable, "-m", "devkit.cli.main", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [process for process in processes if is_alive(process)]
