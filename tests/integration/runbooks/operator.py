"""An operator who does what a page says: its commands in a shell, in the directory of a real job, section by section.

    python -m pipeline run … >> job.log 2>&1 &      starts the job, and waits until it says `started` or has ended;
                                                    `apply` likewise, with apply.log
    kill -TERM "$JOB"                               and waits for its end; `$JOB` is its process, of two the later one
    echo $?                                         what the page shows is the exit code of the command before
    any other                                       runs to its end; its output is what the page shows, its exit code 0

Between the sections a test does what the world does: breaks something, or waits for something.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import orjson
import yaml

from devkit.guardian import Guardian, ManagedProcess
from devkit.observe.audit.arrivals import Position, read_topic
from devkit.programs.places import merge
from devkit.waiting import wait_until
from tests.integration.crash.bench import DEADLINE, Bench
from tests.integration.crash.warm_jvm import LAUNCHER, WarmJvm
from tests.integration.json_lines import json_lines
from tests.runbook_page import RUNBOOKS, Command, Settings, sections

_REPOSITORY = Path(__file__).parents[3]
_JOB = re.compile(r"(python -m pipeline (?:run|apply) .*) >> (?:job|apply)\.log 2>&1 &")
_COMMAND_S = 150
_EXIT_CODE, _STOP = "echo $?", 'kill -TERM "$JOB"'


class Place(Protocol):
    """Where a program runs, with its file in its directory."""

    guardian: Guardian
    config_file: Path

    @property
    def job_environment(self) -> dict[str, str]:
        """What its processes run with."""


P = TypeVar("P", bound=Place)


class Operator(Generic[P]):
    """Works through one page, at the place of the program of `bench`: a job in `job.log`, or `apply` in `apply.log`."""

    def __init__(
        self,
        bench: P,
        page: str,
        *,
        program: str = "run html-enrichment",
        log: str = "job.log",
        started: str = "started",
        warm_jvm: WarmJvm | None = None,
    ) -> None:
        """`started` is the event of the log that shows that the program works. Jobs use `warm_jvm`, if it is given."""
        self._warm_jvm = warm_jvm
        self.bench = bench
        self._program, self._started = program, started
        self.names: dict[str, str] = {}
        """What stands in the page for what is only known here, as the address of a broker."""
        self.directory = bench.config_file.parent
        self.log = self.directory / log
        self._sections = {section.heading: section for section in sections((RUNBOOKS / page).read_text())}
        self._left = [heading for heading, section in self._sections.items() if section.parts]
        self._jobs: list[ManagedProcess] = []
        self._code = 0
        self.log.touch()

    def step(self, heading: str) -> None:
        """All that stands below a heading, which is the next one that has commands."""
        assert self._left, f"{heading}: the page is done"
        assert self._left.pop(0) == heading
        for part in self._sections[heading].parts:
            text = part.text
            for name, found in self.names.items():
                text = text.replace(name, found)
            if isinstance(part, Settings):
                self.set(yaml.safe_load(text))
            else:
                self._run(Command(text, part.expected))
        assert self._code == 0, "the page has to show the exit code of its last command"

    def set(self, settings: dict[str, Any]) -> None:
        """Change keys of the job's file."""
        file = self.bench.config_file
        file.write_text(yaml.safe_dump(merge(yaml.safe_load(file.read_text()), settings)))

    def finish(self) -> None:
        """No section may be left over."""
        assert self._left == []

    def start(self, *options: str) -> None:
        """Start the job, as something else than the page does."""
        self._start(f"python -m pipeline {self._program} --config {self.bench.config_file.name} {' '.join(options)}")

    def stop(self) -> int:
        """SIGTERM, and the exit code."""
        return self._stop()

    def logged(self, event: str, **fields: Any) -> list[dict[str, Any]]:
        """The lines of an event, of all processes of the job."""
        lines = (line for line in json_lines(self.log) if line["event"] == event)
        return [line for line in lines if all(line.get(name) == value for name, value in fields.items())]

    def until(self, condition: Callable[[], Any], what: str) -> None:
        """Wait while the job runs."""

        def look() -> Any:
            assert self._jobs[-1].exit_code is None, self.log.read_text()[-3000:]
            return condition()

        wait_until(look, what=what, deadline=DEADLINE)

    def await_end(self, number: int = -1) -> int:
        """The exit code of the job, or of the process that was started as that number, which ends by itself."""
        job = self._jobs[number]
        wait_until(lambda: job.exit_code is not None, what="the job to end", deadline=DEADLINE)
        assert job.exit_code is not None
        return job.exit_code

    def has_nothing_left(self) -> bool:
        """Neither lag nor deferred events, by the job's own commands, whichever its brokers and topics are."""
        lag = self._shell("python -m pipeline lag --config pipeline.yaml")
        if lag.returncode or lag.stdout.splitlines()[-1].split()[:2] != ["all", "0"]:
            return False
        return self._shell("python -m pipeline deferred list --config pipeline.yaml").stdout == "nothing is deferred\n"

    def close(self) -> None:
        """Of the job nothing is left."""
        for job in self._jobs:
            job.kill_tree()

    def _run(self, command: Command) -> None:
        if job := _JOB.fullmatch(command.text):
            self._start(job[1])
            return
        if command.text == _STOP:
            self._stop()
            return
        if command.text == _EXIT_CODE:
            assert command.expected == (str(self._code),)
            self._code = 0
            return
        assert self._code == 0, "the page has to show the exit code of the command before"
        done = self._shell(command.text)
        self._code = done.returncode
        shown = "\n".join(command.expected)
        assert command.pattern().fullmatch(done.stdout), f"$ {command.text}\n{done.stdout}\nthe page shows\n{shown}"

    def _shell(self, text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", text],
            cwd=self.directory,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_COMMAND_S,
            check=False,
        )

    def _environment(self) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        job = {"JOB": str(self._jobs[-1].pid)} if self._jobs else {}
        return {**os.environ, **self.bench.job_environment, "PATH": path, "PYTHONPATH": str(_REPOSITORY), **job}

    def _start(self, command: str) -> None:
        before = len(self.logged(self._started))
        lent = self._warm_jvm.lend(self.bench.job_environment) if self._warm_jvm else {}
        if lent:
            command = command.replace("python -m pipeline", f"python {LAUNCHER}", 1)
        shell = ["bash", "-c", f"cd {self.directory} && exec {command} >> {self.log} 2>&1"]
        name, logs = f"operator-{len(self._jobs)}", self.directory / "logs"
        job = self.bench.guardian.spawn(name, shell, logs=logs, env=self._environment() | lent, program=True)
        if self._warm_jvm and lent:
            self._warm_jvm.lent_to(job)
        self._jobs.append(job)
        wait_until(
            lambda: len(self.logged(self._started)) > before or job.exit_code is not None,
            what="the job to start",
            deadline=DEADLINE + timedelta(seconds=60),
        )
        assert job.exit_code is None, self.log.read_text()[-3000:]

    def _stop(self) -> int:
        subprocess.run(["bash", "-c", _STOP], env=self._environment(), check=True)
        return self.await_end()


def sources_of(bench: Bench) -> frozenset[Position]:
    """The events that have left as output or error event."""
    arrivals = (*bench.outputs(), *bench.errors())
    return frozenset(arrival.source for arrival in arrivals if arrival.source is not None)


def ids_at(bench: Bench, positions: Iterable[Position]) -> set[str]:
    """The ids of source events."""
    wanted = set(positions)
    source = read_topic(bench.bootstrap, bench.config.source.topic)
    found = (one for one in source if (one.topic, one.partition, one.offset) in wanted)
    return {str(orjson.loads(one.value)["meta"]["id"]) for one in found}
