"""Asks a running JVM of this machine, as `jcmd` of a JDK does; images for Spark often have no more than a Java runtime.

A file in the JVM's temporary directory and SIGQUIT have it listen on a socket there. A request is the protocol's
version, a command and three arguments, each ended by a zero byte; the answer is a line with an exit code, and text.
The JVM has to be of the same user. Source: HotSpot's attachListener_posix.cpp.
"""

import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pipeline.errors import PipelineError

_VERSION = "1"
_ARGUMENTS = 3
_WAIT_S = 10.0
_LOOK_S = 0.05


class AttachError(PipelineError):
    """The JVM did not do what it was asked for."""


def ask(
    pid: int, command: str, *arguments: str, timeout_s: float, proc: Path = Path("/proc"), wait_s: float = _WAIT_S
) -> str:
    """The text of its answer. Raises AttachError when there is none within `timeout_s` seconds, or it is an error."""
    place = _listening(pid, proc, wait_s)
    words = [_VERSION, command, *arguments, *[""] * (_ARGUMENTS - len(arguments))]
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout_s)
            connection.connect(str(place))
            connection.sendall("".join(f"{word}\0" for word in words).encode())
            answer = b"".join(iter(lambda: connection.recv(1 << 16), b"")).decode(errors="replace")
    except OSError as error:
        raise AttachError(
            f"JVM {pid} did not answer {command} within {timeout_s:g} s: {error}",
            hint="it may be in a long garbage collection; ask again",
        ) from error
    code, _, text = answer.partition("\n")
    if code != "0":
        raise AttachError(f"JVM {pid} refused {command}: {text.strip() or answer.strip()}")
    return text


def _listening(pid: int, proc: Path, wait_s: float) -> Path:
    """Its socket, which it makes when it is asked to for the first time."""
    _require_jvm(pid, proc)
    inside = _inner_pid(pid, proc)
    directory = proc / str(pid) / "root" / "tmp"
    place = directory / f".java_pid{inside}"
    if place.is_socket():
        return place
    request = directory / f".attach_pid{inside}"
    try:
        request.touch()
        try:
            os.kill(pid, signal.SIGQUIT)
            if _comes_true(place.is_socket, wait_s):
                return place
        finally:
            with suppress(OSError):
                request.unlink()
    except OSError as error:
        raise AttachError(
            f"JVM {pid} cannot be asked: {error}", hint="run the command as its user, and in its container"
        ) from error
    raise AttachError(
        f"JVM {pid} did not begin to listen within {wait_s:g} s",
        hint="it does not with -XX:+DisableAttachMechanism, nor while it hangs",
    )


def _require_jvm(pid: int, proc: Path) -> None:
    """Any other process would be ended by SIGQUIT. Raises AttachError."""
    try:
        is_jvm = "/libjvm.so" in (proc / str(pid) / "maps").read_text(errors="replace")
    except OSError as error:
        raise AttachError(
            f"process {pid} cannot be looked at: {error.strerror or error}",
            hint="run the command as its user, and in its container; without a number it finds the JVM",
        ) from error
    if not is_jvm:
        raise AttachError(f"process {pid} is no JVM", hint="without a number the command finds it")


def _comes_true(condition: Callable[[], bool], wait_s: float) -> bool:
    end = time.monotonic() + wait_s
    while not condition():
        if time.monotonic() >= end:
            return False
        time.sleep(_LOOK_S)
    return True


def _inner_pid(pid: int, proc: Path) -> int:
    """The number by which the JVM knows itself, which is another one in a container."""
    try:
        lines = (proc / str(pid) / "status").read_text().splitlines()
    except OSError as error:
        raise AttachError(f"process {pid} has ended") from error
    return next((int(line.split()[-1]) for line in lines if line.startswith("NSpid:")), pid)
