"""The guardian's process: `python -m devkit.guardian RUN_ID SOCKET_FD`. See the package for what it is for."""

import contextlib
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import FrameType

import psutil

from devkit.docker.access import DockerAccess
from devkit.docker.leftovers import remove_containers
from devkit.errors import StackError, WaitTimeoutError
from devkit.guardian import messages as m
from devkit.guardian.lease import LeaseWatch, journal_directory, respawn_requests
from devkit.guardian.processes import (
    RUN_VARIABLE,
    TREE_VARIABLE,
    become_subreaper,
    birth,
    descendants,
    die_with_parent,
    is_alive,
    kill_until_gone,
    marked,
)
from devkit.guardian.run_state import CHECKOUT, PartPlace, ProgramPlace, RunState, state_path
from devkit.waiting import wait_until

_CHECK_LEASES_S = 1.0
_UNDOING = timedelta(seconds=60)


class GuardianProcess:
    """Single-threaded: waits for the socket, for signals and for the ends of children."""

    def __init__(self, run_id: str, sock: socket.socket) -> None:
        self._run_id = run_id
        self._sock: socket.socket | None = sock
        self._selector = selectors.DefaultSelector()
        self._requests: dict[int, int] = {}  # pid of a started process → the request that started it
        self._released = False
        self._ending = False
        self._docker: DockerAccess | None = None
        self._addresses: dict[str, str] = {}
        self._parts: tuple[PartPlace, ...] = ()
        self._programs: dict[int, ProgramPlace] = {}  # by the request that started it
        self._started: dict[int, m.Spawn] = {}  # by process id, also of those that have ended
        self._leases = LeaseWatch(run_id)
        self._undoing: int | None = None
        become_subreaper()
        self._directory = Path(tempfile.mkdtemp(prefix=f"devkit-{run_id}-"))
        try:
            self._save_state()
        except OSError:
            self._directory.rmdir()
            raise

    def run(self) -> None:
        """Serve until the command line is gone, a shutdown is asked for, or a signal comes; then end everything."""
        wake_read, wake_write = os.pipe()
        for end in (wake_read, wake_write):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake_write)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_end_signal)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        assert self._sock is not None
        buffer = m.LineBuffer()
        self._selector.register(wake_read, selectors.EVENT_READ)
        self._selector.register(self._sock, selectors.EVENT_READ)
        self._send(m.Hello(directory=str(self._directory)))
        shutdown_asked = False
        try:
            while not self._ending:
                for key, _ in self._selector.select(_CHECK_LEASES_S):
                    if key.fd == wake_read:
                        os.read(wake_read, 4096)
                        self._reap()
                        continue
                    data = self._receive()
                    if data is None:
                        continue
                    for line in buffer.feed(data):
                        shutdown_asked |= self._obey(m.COMMANDS.validate_json(line))
                self._ending |= shutdown_asked
                self._check_leases()
                self._respawn_parts()
        finally:
            # Also when this process has a defect: what it owns must not outlive it.
            remaining = self._end_everything()
        if shutdown_asked:
            self._send(m.Down(left=remaining))

    def _check_leases(self) -> None:
        """Have faults undone whose holder is gone."""
        if self._leases.look() and self._undoing is None and not self._ending:
            self._undoing = self._undo("lapsed").pid

    def _respawn_parts(self) -> None:
        """Only of a run without a command line, which would not know the new process."""
        for request in respawn_requests(self._run_id) if self._released else ():
            place = next((place for place in self._parts if place.name == request.stem), None)
            command = self._started.get(place.pid) if place is not None and place.pid is not None else None
            if place is not None and command is not None and place.pid not in self._requests:
                self._spawn(command.model_copy(update={"succeeds": place.pid}))
            request.unlink(missing_ok=True)

    def _undo(self, why: str) -> "subprocess.Popen[bytes]":
        undoing = subprocess.Popen(
            [sys.executable, "-P", "-m", "devkit.faults.undo", self._run_id, why],
            env=os.environ | {RUN_VARIABLE: self._run_id},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        undoing.returncode = 0  # reaped by waitpid, as all children are
        return undoing

    def _on_end_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._ending = True

    def _receive(self) -> bytes | None:
        """Data from the command line; None when it is gone, which ends the run unless it was released."""
        assert self._sock is not None
        with contextlib.suppress(OSError):
            if data := self._sock.recv(65536):
                return data
        self._selector.unregister(self._sock)
        self._sock.close()
        self._sock = None
        self._ending |= not self._released
        return None

    def _obey(self, command: m.Command) -> bool:
        """Carry out one command; True when it was a shutdown."""
        match command:
            case m.Spawn():
                self._spawn(command)
            case m.Signal():
                with contextlib.suppress(ProcessLookupError):
                    if command.pid in self._requests:
                        os.kill(command.pid, command.number)
            case m.KillTree():
                self._kill_tree(command.request)
                self._send(m.TreeKilled(request=command.request))
            case m.UseDocker():
                self._docker = command.access
                self._save_state()
                self._send(m.Noted())
            case m.Announce():
                self._addresses, self._parts = command.addresses, command.parts
                self._save_state()
                self._send(m.Noted())
            case m.Release():
                self._released = True
                self._addresses = command.state
                self._save_state()
                self._send(m.Released())
            case m.Shutdown():
                return True
        return False

    def _spawn(self, command: m.Spawn) -> None:
        # TMPDIR keeps what children write to the temporary directory inside the one that is removed at the end.
        env = (
            os.environ
            | command.env
            | {
                RUN_VARIABLE: self._run_id,
                TREE_VARIABLE: f"{self._run_id}/{command.request}",
                "TMPDIR": command.scratch or str(self._directory),
            }
        )
        try:
            if command.succeeds is None:
                for log in {command.stdout, command.stderr}:
                    Path(log).write_bytes(b"")  # a line of an earlier run must not pass for one of this process
            with Path(command.stdout).open("ab") as stdout, Path(command.stderr).open("ab") as stderr:
                process = subprocess.Popen(
                    command.argv,
                    env=env,
                    cwd=self._directory,
                    stdin=subprocess.DEVNULL,
                    stdout=stdout,
                    stderr=stderr,
                    preexec_fn=die_with_parent,  # safe: this process has one thread
                )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self._send(m.Refused(request=command.request, reason=str(error)))
            return
        process.returncode = 0  # reaped below by waitpid, not by Popen
        self._requests[process.pid] = command.request
        self._started[process.pid] = command
        if command.succeeds is not None:
            self._replace(command.succeeds, process.pid)
        if command.program:
            place = ProgramPlace(
                name=command.name, pid=process.pid, log=Path(command.stderr), output=Path(command.stdout)
            )
            self._record(command.request, place)
        self._send(m.Spawned(request=command.request, pid=process.pid))

    def _replace(self, before: int, pid: int) -> None:
        self._parts = tuple(
            part.model_copy(update={"pid": pid}) if part.pid == before else part for part in self._parts
        )
        self._save_state()

    def _kill_tree(self, request: int) -> None:
        def find() -> list[psutil.Process]:
            tree = {process.pid: process for process in marked(TREE_VARIABLE, f"{self._run_id}/{request}")}
            # By descent as well: for a moment after its start a process shows no environment.
            for pid in [pid for pid, started_by in self._requests.items() if started_by == request]:
                with contextlib.suppress(psutil.Error):
                    root = psutil.Process(pid)
                    for process in (root, *root.children(recursive=True)):
                        if is_alive(process):
                            tree.setdefault(process.pid, process)
            return list(tree.values())

        kill_until_gone(find, reap=self._reap)
        self._reap()
        self._record(request, None)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._undoing:
                self._undoing = None
            elif (request := self._requests.pop(pid, None)) is not None:
                self._ended(request, os.waitstatus_to_exitcode(status))

    def _ended(self, request: int, code: int) -> None:
        if (program := self._programs.get(request)) is not None and not self._ending:
            self._record(request, program.model_copy(update={"exit_code": code}))
        self._send(m.Exited(request=request, code=code))

    def _record(self, request: int, program: ProgramPlace | None) -> None:
        """Have the state file say what runs; a full disk is no reason to end the run."""
        before = self._programs.pop(request, None)
        if program is not None:
            self._programs[request] = program
        if program != before:
            with contextlib.suppress(OSError):
                self._save_state()

    def _end_everything(self) -> str | None:
        """Returns why containers of the run are left, if any are; the state file stays then, for `devkit heal`."""
        kill_until_gone(descendants, reap=self._reap)
        kill_until_gone(partial(marked, RUN_VARIABLE, self._run_id), reap=self._reap)
        self._undo_what_outlives()
        shutil.rmtree(self._directory, ignore_errors=True)
        if self._docker is not None:
            try:
                remove_containers(self._docker, self._run_id)
            except StackError as error:
                return str(error)
        state_path(self._run_id).unlink(missing_ok=True)
        return None

    def _undo_what_outlives(self) -> None:
        """Undo faults on parts that outlive the run; `devkit heal` retries those that cannot be undone now."""
        if not journal_directory(self._run_id).exists():
            return
        with contextlib.suppress(OSError, WaitTimeoutError):
            self._undoing = self._undo("ended").pid
            wait_until(self._has_undone, what="faults to be undone", deadline=_UNDOING)

    def _has_undone(self) -> bool:
        self._reap()
        return self._undoing is None

    def _save_state(self) -> None:
        me = psutil.Process()
        RunState(
            run_id=self._run_id,
            guardian_pid=me.pid,
            guardian_started=me.create_time(),
            guardian_birth=birth(me.pid),
            directory=self._directory,
            released=self._released,
            addresses=self._addresses,
            parts=self._parts,
            programs=tuple(self._programs.values()),
            checkout=CHECKOUT,
            docker=self._docker,
        ).save()

    def _send(self, event: m.Event) -> None:
        if self._sock is not None:
            with contextlib.suppress(OSError):  # the command line is gone; the selector will say so
                m.send(self._sock, event)


def main() -> None:
    """Serve as the guardian: arguments the run's id, and the number of an inherited socket. Exit 1
    when it is refused.
    """
    run_id, sock = sys.argv[1], socket.socket(fileno=int(sys.argv[2]))
    try:
        guardian = GuardianProcess(run_id, sock)
    except OSError as error:
        m.send(sock, m.Refused(request=m.GUARDIAN, reason=str(error)))
        sys.exit(1)
    guardian.run()


if __name__ == "__main__":
    main()
