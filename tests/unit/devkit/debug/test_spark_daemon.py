"""The fork itself is Spark's, and tested with it; here, who listens and who goes on."""

import socket
from typing import Any, cast

import debugpy  # noqa: T100
import pytest

from devkit.debug import spark_daemon
from devkit.debug.debugger import PORT_VARIABLE
from devkit.stack.ports import free_port


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    done: list[Any] = []
    monkeypatch.setattr(spark_daemon.signal, "signal", lambda number, handler: None)
    monkeypatch.setattr(debugpy, "listen", done.append)
    monkeypatch.setattr(debugpy, "wait_for_client", lambda: done.append("waited"))
    monkeypatch.setattr(spark_daemon, "_begin", lambda sock, authenticated: done.append("began") or 7)
    return done


def test_a_worker_waits_before_anything_of_the_job_runs(calls: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv(PORT_VARIABLE, str(port))
    assert spark_daemon.worker(cast(socket.socket, None), authenticated=True) == 7
    assert calls == [("127.0.0.1", port), "waited", "began"]


def test_another_goes_on(calls: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        monkeypatch.setenv(PORT_VARIABLE, str(listener.getsockname()[1]))
        assert spark_daemon.worker(cast(socket.socket, None), authenticated=True) == 7
    assert calls == ["began"]
