"""Keeps a pipeline process running, as the operator did in production: when it fails, it is started again.

The first start makes the checkpoint; every restart continues it.
"""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from devkit.errors import StackError
from devkit.guardian import Guardian, ManagedProcess
from devkit.observe.logs import LineTail, LoggedException, exceptions_in
from devkit.programs.launch import Launch

_REFUSED = 2


class Supervisor:
    """One pipeline process at a time; `poll` it often. `own` tells that it is somebody's own, not the kit's.

    The kit's pipeline says when its query begins. `shows_life` is asked about one that may not say so.
    """

    def __init__(
        self,
        guardian: Guardian,
        launch: Launch,
        *,
        logs: Path,
        restart_delay: timedelta,
        own: bool = False,
        clock: Callable[[], float] = time.monotonic,
        shows_life: Callable[[], bool] = lambda: False,
    ) -> None:
        self._guardian = guardian
        self._clock = clock
        self._launch = launch
        self._logs = logs
        self._restart_delay = restart_delay
        self._own = own
        self._processes: list[ManagedProcess] = []
        self._tail: LineTail | None = None
        self._restart_at: float | None = None
        self._has_begun = False
        self._shows_life = shows_life
        self.exit_codes: list[int] = []

    @property
    def starts(self) -> int:
        return len(self._processes)

    @property
    def restarts(self) -> int:
        return max(0, len(self._processes) - 1)

    @property
    def process(self) -> ManagedProcess | None:
        """The newest process, which may have ended."""
        return self._processes[-1] if self._processes else None

    def start(self) -> None:
        """First start: a new checkpoint, from the beginning of the source."""
        self._spawn()

    def poll(self) -> Iterator[dict[str, Any]]:
        """Lines the pipeline wrote since the last look, and what happened to its process, as `event` mappings.

        Raises StackError when the pipeline refuses to run, or has never begun: a restart cannot mend that.
        """
        process = self._processes[-1]
        code = process.exit_code
        if self._tail is not None:
            for line in self._tail.new_lines():
                self._has_begun |= line["event"] == "started"
                yield line
        if self._restart_at is None:
            if code is None:
                return
            if code == _REFUSED and not self._own:
                raise StackError(f"the pipeline refused to run: {process.last_words(6)}")
            self._has_begun = self._has_begun or self._shows_life()
            if not self._has_begun:
                # Nothing of the scenario has happened yet, so this says something of the machine, not of the incident.
                raise StackError(
                    f"the pipeline ended with exit code {code} before {self._beginning}: {process.last_words(6)}",
                    hint=f"its whole log is {process.stderr}; `devkit doctor` checks the machine",
                )
            # Workers that outlive their driver could still write.
            process.kill_tree()
            self.exit_codes.append(code)
            self._restart_at = self._clock() + self._restart_delay.total_seconds()
            yield {"event": "process_ended", "process": self.starts, "exit_code": code}
        elif self._clock() >= self._restart_at:
            self._restart_at = None
            self._spawn()
            yield {"event": "process_restarted", "process": self.starts, "pid": self._processes[-1].pid}

    def stop(self) -> None:
        """Kill the process and all below it. The protocol handles crashes, so nothing is lost by that."""
        if self._processes:
            self._processes[-1].kill_tree()

    def exceptions(self) -> tuple[LoggedException, ...]:
        return tuple(
            exception
            for number, process in enumerate(self._processes, 1)
            for exception in exceptions_in(process.stderr, number)
        )

    @property
    def _beginning(self) -> str:
        return "it fetched or wrote anything" if self._own else "its query began"

    def _spawn(self) -> None:
        name = f"pipeline-{self.starts + 1}"
        process = self._launch.spawn(self._guardian, name, logs=self._logs, again=bool(self._processes))
        self._processes.append(process)
        self._tail = LineTail(process.stdout)
