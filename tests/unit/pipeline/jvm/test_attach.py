"""What is said to a JVM, and what is not said to any other process."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.jvm.attach import AttachError, ask
from tests.unit.pipeline.jvm.proc_tree import DRIVER, process

PID = 4321


@contextmanager
def listening(place: Path, answer: bytes, heard: list[bytes]) -> Iterator[None]:
    """A JVM's socket; it answers one request."""
    with socket.socket(socket.AF_UNIX) as server:
        # A path of a socket may have 107 bytes, and a test's directory has more.
        before = Path.cwd()
        os.chdir(place)
        try:
            server.bind(".java_pid7")
        finally:
            os.chdir(before)
        server.listen()

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                heard.append(connection.recv(1 << 16))
                connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield
        thread.join(10)


@pytest.fixture
def proc(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    proc = tmp_path_factory.mktemp("p")
    process(proc, PID, DRIVER)
    monkeypatch.chdir(proc)
    return Path()


def test_a_command_is_sent_with_three_arguments_and_its_answer_returned(proc: Path) -> None:
    heard: list[bytes] = []
    with listening(proc / str(PID) / "root" / "tmp", b"0\n num  class\n", heard):
        assert ask(PID, "dumpheap", "/a b.hprof", "-live", timeout_s=10, proc=proc) == " num  class\n"
    assert heard == [b"1\0dumpheap\0/a b.hprof\0-live\0\0"]


def test_an_error_of_the_jvm_is_told(proc: Path) -> None:
    with (
        listening(proc / str(PID) / "root" / "tmp", b"100\nFile exists\n", []),
        pytest.raises(AttachError, match="JVM 4321 refused dumpheap: File exists"),
    ):
        ask(PID, "dumpheap", timeout_s=10, proc=proc)


def test_a_jvm_that_does_not_listen_is_asked_to(proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, signals = proc / str(PID) / "root" / "tmp", list[int]()

    def kill(_pid: int, number: int) -> None:
        signals.append(number)
        assert (place / ".attach_pid7").exists(), "else the JVM prints its threads"

    monkeypatch.setattr(os, "kill", kill)
    with pytest.raises(AttachError, match="did not begin to listen"):
        ask(PID, "inspectheap", timeout_s=1, proc=proc, wait_s=0)
    assert signals == [signal.SIGQUIT]
    assert not list(place.iterdir())


def test_no_signal_goes_to_what_is_no_jvm(proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("it would be ended"))
    process(proc, 77, ("python",), jvm=False)
    with pytest.raises(AttachError, match="process 77 is no JVM"):
        ask(77, "inspectheap", timeout_s=1, proc=proc)
    with pytest.raises(AttachError, match="process 78 cannot be looked at"):
        ask(78, "inspectheap", timeout_s=1, proc=proc)
