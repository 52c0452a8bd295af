"""The command line's end of the guardian: start processes, learn of their ends, end or release the run."""

import contextlib
import itertools
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from devkit.docker.access import DockerAccess
from devkit.errors import DevkitError, StackError, WaitTimeoutError
from devkit.guardian import messages as m
from devkit.guardian.cleanup import remove_remains
from devkit.guardian.environment import run_environment
from devkit.guardian.processes import RUN_VARIABLE, TREE_VARIABLE, marked
from devkit.guardian.run_state import PartPlace
from devkit.observe.logs.log_end import last_lines

_ANSWER_S = 30.0
_END_S = 120.0  # containers take their time


@dataclass
class ManagedProcess:
    """A process of the run. `exit_code` as in `subprocess`: None while it runs, negative when a signal ended it."""

    name: str
    request: int
    pid: int
    stdout: Path
    stderr: Path
    _guardian: "Guardian" = field(repr=False)

    @property
    def container(self) -> None:
        """It is none; see `devkit.stack.parts.part_life.Life`."""
        return

    @property
    def exit_code(self) -> int | None:
        """The exit code that the guardian last reported; see `Guardian.exit_code_of`."""
        return self._guardian.exit_code_of(self.request)

    def require_guardian(self) -> None:
        """Raises StackError when the guardian has ended, and this process with it."""
        self._guardian.require_running()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to this process alone."""
        self._guardian.send(m.Signal(pid=self.pid, number=number))

    def tree(self) -> list[psutil.Process]:
        """Its living processes, found by their mark."""
        return marked(TREE_VARIABLE, f"{self._guardian.run_id}/{self.request}")

    def kill_tree(self) -> None:
        """Kill it and all that descends from it, and wait until they are gone."""
        self._guardian.kill_tree(self.request)

    def last_words(self, lines: int = 5) -> str:
        """The end of its standard error, or of its output when that is empty, for an error message."""
        for path in (self.stderr, self.stdout):
            with contextlib.suppress(OSError):
                if last := last_lines(path, lines):
                    return "\n".join(last)
        return "(it printed nothing)"


class Guardian:
    """A context manager; leaving it ends the run unless it was released."""

    def __init__(self) -> None:
        self.run_id = secrets.token_hex(4)
        self._requests = itertools.count(1)
        self._condition = threading.Condition()
        self._sending = threading.Lock()
        self._answers: dict[tuple[str, int], m.Event] = {}
        self._exit_codes: dict[int, int] = {}
        self._gone = False
        self._released = False
        self._remains: Path | None = None  # the directory, as soon as the guardian has one
        self._docker: DockerAccess | None = None
        self.left: str | None = None
        """After the end: what of the run could not be removed, and why."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "devkit.guardian", self.run_id, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # Ctrl-C in the terminal is for the command line, which then ends the run in order.
                start_new_session=True,
                env=run_environment(os.environ) | {RUN_VARIABLE: self.run_id},
            )
        self._sock = ours
        self._reader = threading.Thread(target=self._read, name="guardian-reader", daemon=True)
        self._reader.start()
        try:
            self.directory = self._remains = self._await_hello()
        except BaseException:
            self.shutdown()
            raise

    def spawn(
        self,
        name: str,
        argv: Sequence[str],
        *,
        logs: Path,
        env: Mapping[str, str] | None = None,
        split: bool = False,
        succeeds: int | None = None,
        scratch: Path | None = None,
        program: bool = False,
    ) -> ManagedProcess:
        """Start a process that logs to `<logs>/<name>.log`, or with `split` its output to `<logs>/<name>.out`.

        Logs begin afresh, unless it `succeeds` the process of that id, whose place it takes in the run's state.
        Temporary files go into the run's directory, or into `scratch`, which is made where it is not there. The run's
        state lists what is a process of a `program` under test.
        Raises StackError when it cannot be started.
        """
        logs.mkdir(parents=True, exist_ok=True)
        if scratch is not None:
            _make_scratch(scratch, name)
        request = next(self._requests)
        stderr = logs / f"{name}.log"
        stdout = logs / f"{name}.out" if split else stderr
        self.send(
            m.Spawn(
                request=request,
                name=name,
                argv=tuple(argv),
                env=dict(env or {}),
                stdout=str(stdout.absolute()),
                stderr=str(stderr.absolute()),
                succeeds=succeeds,
                scratch=str(scratch) if scratch else None,
                program=program,
            )
        )
        answer = self._await("spawned", request)
        if isinstance(answer, m.Refused):
            raise StackError(f"{name} could not be started: {answer.reason}")
        assert isinstance(answer, m.Spawned)
        return ManagedProcess(name, request, answer.pid, stdout, stderr, self)

    def _await_hello(self) -> Path:
        hello = self._await("hello", m.GUARDIAN)
        if isinstance(hello, m.Refused):
            raise StackError(
                f"the run's guardian could not begin: {hello.reason}",
                hint="free some space, or choose other places with TMPDIR and DEVKIT_CACHE",
            )
        assert isinstance(hello, m.Hello)
        return Path(hello.directory)

    def exit_code_of(self, request: int) -> int | None:
        """The exit code of a request's process: None while it runs, -9 when the guardian died before it reported."""
        with self._condition:
            if self._gone and request not in self._exit_codes:
                return -signal.SIGKILL
            return self._exit_codes.get(request)

    def kill_tree(self, request: int) -> None:
        """Returns when all of them are gone. Raises StackError when the guardian has ended."""
        with self._condition:
            self._answers.pop(("tree_killed", request), None)
        self.send(m.KillTree(request=request))
        self._await("tree_killed", request)

    def use_docker(self, access: DockerAccess) -> None:
        """To be called before the run's first container is made: all with its label are removed at its end."""
        self._docker = access
        self.send(m.UseDocker(access=access))
        self._await("noted", m.GUARDIAN)

    def announce(self, addresses: Mapping[str, str], parts: Sequence[PartPlace]) -> None:
        """Have the state file say what the run consists of."""
        self.send(m.Announce(addresses=dict(addresses), parts=tuple(parts)))
        self._await("noted", m.GUARDIAN)

    def release(self, addresses: Mapping[str, str]) -> None:
        """Leave the run to the guardian; the addresses go into its state file."""
        self.send(m.Release(state=dict(addresses)))
        self._await("released", m.GUARDIAN)
        self._released = True

    def shutdown(self) -> None:
        """End every process of the run and remove its directory; safe to call twice."""
        if not self._gone:
            with contextlib.suppress(StackError):
                self.send(m.Shutdown())
                down = self._await("down", m.GUARDIAN, within_s=_END_S)
                self.left = down.left if isinstance(down, m.Down) else None
        self._sock.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.returncode != 0:
            try:
                remove_remains(self.run_id, self._remains, self._docker)
            except StackError as error:
                self.left = str(error)

    def require_running(self) -> None:
        """Raises StackError when the guardian has ended, and with it all it owned."""
        if self._gone:
            raise StackError("the run's guardian process was killed, and all it owned with it")

    def send(self, command: m.Command) -> None:
        """Does not wait for an answer; any thread may call it. Raises StackError when the guardian has ended."""
        try:
            with self._sending:  # faults act from threads of their own
                m.send(self._sock, command)
        except OSError as error:
            raise StackError(
                "the run's guardian process has ended", hint="something killed it; `devkit clean` removes what is left"
            ) from error

    def _await(self, event: str, request: int, within_s: float = _ANSWER_S) -> m.Event:
        end = time.monotonic() + within_s
        with self._condition:
            while (answer := self._answers.pop((event, request), None)) is None:
                if self._gone:
                    raise StackError(
                        f"the run's guardian process ended while {event!r} was awaited",
                        hint="something killed it; `devkit clean` removes what is left",
                    )
                if not self._condition.wait(end - time.monotonic()):
                    raise WaitTimeoutError(
                        f"the run's guardian did not answer {event!r} within {within_s:.0f} s",
                        hint="a very busy machine is the likely cause: end what else runs there, and try again; "
                        "`devkit doctor` checks this machine",
                    )
        return answer

    def _read(self) -> None:
        buffer = m.LineBuffer()
        with contextlib.suppress(OSError):
            while data := self._sock.recv(65536):
                for line in buffer.feed(data):
                    self._store(m.EVENTS.validate_json(line))
        with self._condition:
            self._gone = True
            self._condition.notify_all()

    def _store(self, event: m.Event) -> None:
        with self._condition:
            match event:
                case m.Exited():
                    self._exit_codes[event.request] = event.code
                case m.Refused():
                    awaited = "hello" if event.request == m.GUARDIAN else "spawned"
                    self._answers[awaited, event.request] = event
                case m.Spawned() | m.TreeKilled():
                    self._answers[event.event, event.request] = event
                case _:
                    self._answers[event.event, m.GUARDIAN] = event
            self._condition.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._released:
            self._sock.close()
            return
        self.shutdown()
        if self.left is None:
            return
        if isinstance(error, DevkitError):
            error.hint = "; ".join(filter(None, (error.hint, f"containers are left: {self.left}; see `devkit heal`")))
        elif error is None:
            raise StackError(f"containers of the run are left: {self.left}", hint="`devkit heal` removes them")


def _make_scratch(scratch: Path, name: str) -> None:
    """The directory for the temporary files of that process, which a scenario may have named. Raises StackError."""
    try:
        scratch.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StackError(
            f"{name} could not be started: {scratch}, for its temporary files, cannot be made: {error.strerror}",
            hint="name another directory as TMPDIR",
        ) from error
