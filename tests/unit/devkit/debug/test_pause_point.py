"""Pauses and debuggers: what a program waits for, and who listens."""

import io
import json
import os
import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, TextIO, cast

import debugpy  # noqa: T100
import pytest

from devkit.debug import spark_daemon
from devkit.debug.debugger import PORT_VARIABLE, Debugger
from devkit.debug.pause_point import (
    NO_PAUSES,
    PHASES,
    PausePoint,
    Pauses,
    PersonGate,
    is_paused,
    require_arms,
    require_way_on,
    resume,
)
from devkit.errors import StackError, UsageError
from devkit.programs.launch import Launch
from devkit.stack.ports import free_port

PIPELINE = ("/python", "-m", "pipeline", "run", "html-enrichment", "--config", "c.yaml")
LAUNCH = Launch(PIPELINE, {"AWS_REGION": "here"})


class TestPoints:
    def test_of_every_arm_and_of_one(self) -> None:
        assert [PausePoint.parse(phase) for phase in PHASES] == [PausePoint(phase) for phase in PHASES]
        point = PausePoint.parse("incident:arm-end")
        assert point == PausePoint("arm-end", "incident")
        assert point.is_at("arm-end", "incident")
        assert not point.is_at("arm-end", "fixed")
        assert not point.is_at("traffic", "incident")

    @pytest.mark.parametrize(
        "text",
        ["", "nowhere", "incident", "incident:", "incident:nowhere", "incident:stack", ":traffic"],
    )
    def test_what_is_none(self, text: str) -> None:
        with pytest.raises(UsageError, match="there is no such point") as refused:
            PausePoint.parse(text)
        assert all(phase in (refused.value.hint or "") for phase in PHASES)


def test_an_arm_that_is_not_played_is_refused_with_the_near_miss() -> None:
    points = [PausePoint.parse(text) for text in ("traffic", "incident:traffic", "brust:pipeline")]
    require_arms(points[:2], ("incident", "burst"))
    with pytest.raises(UsageError, match="no arm 'brust' is played") as refused:
        require_arms(points, ("incident", "burst"))
    assert "burst" in (refused.value.hint or "")


class TestPauses:
    def test_the_gate_is_asked_at_the_points_and_the_time_is_told(self) -> None:
        asked: list[str] = []
        times = iter([10.0, 13.5, 20.0, 21.0])
        pauses = Pauses((PausePoint("stack"), PausePoint("traffic", "fixed")), asked.append, lambda: next(times))
        assert pauses.at("stack") == 3.5
        assert pauses.at("traffic", "incident") is None
        assert pauses.at("pipeline", "fixed") is None
        assert pauses.at("traffic", "fixed") == 1.0
        assert asked == ["stack", "fixed:traffic"]

    def test_there_are_none_by_default(self) -> None:
        assert NO_PAUSES.at("stack") is None


@pytest.fixture
def terminal() -> Iterator[tuple[TextIO, int]]:
    """Somebody's terminal, and the end at which keys are pressed."""
    keys, line = os.openpty()
    with os.fdopen(line) as stdin:
        yield stdin, keys
    os.close(keys)


class TestGate:
    def gate(self, directory: Path, lines: list[str], **settings: Any) -> PersonGate:
        return PersonGate("cafe0001", directory, lines.append, settings.pop("still_up", lambda: None), **settings)

    def test_enter_at_a_terminal(self, tmp_path: Path, terminal: tuple[TextIO, int]) -> None:
        lines: list[str] = []
        os.write(terminal[1], b"\n")
        shown = "kafka 127.0.0.1:9092"
        self.gate(tmp_path, lines, stdin=terminal[0], paused=lambda: lines.append(shown))("incident:traffic")
        said = "paused at incident:traffic: Enter or `devkit resume --run-id cafe0001` goes on"
        assert lines == [said, shown, "goes on by Enter"]

    def test_resume_from_elsewhere(self, tmp_path: Path) -> None:
        lines: list[str] = []
        self.gate(tmp_path, lines, limit=timedelta(minutes=5), still_up=lambda: resume(tmp_path))("stack")
        said = "paused at stack: `devkit resume --run-id cafe0001` goes on, and so do 300 s"
        assert lines == [said, "goes on by `devkit resume`"]

    def test_a_resume_before_the_pause_does_not_count(self, tmp_path: Path) -> None:
        lines: list[str] = []
        resume(tmp_path)
        self.gate(tmp_path, lines, limit=timedelta(0))("stack")
        assert lines[-1] == "goes on by the limit"

    def test_it_is_paused_while_it_waits_and_no_longer(self, tmp_path: Path) -> None:
        seen = []

        def look() -> None:
            seen.append(is_paused(tmp_path))
            resume(tmp_path)

        assert not is_paused(tmp_path)
        self.gate(tmp_path, [], still_up=look)("stack")
        assert (seen, is_paused(tmp_path)) == ([True], False)

    def test_a_stack_that_dies_ends_the_pause(self, tmp_path: Path) -> None:
        def dead() -> None:
            raise StackError("kafka ended")

        with pytest.raises(StackError, match="kafka ended"):
            self.gate(tmp_path, [], still_up=dead)("stack")
        assert not is_paused(tmp_path)


CLOSED = io.StringIO()
CLOSED.close()


class TestWayOn:
    POINTS = (PausePoint("stack"),)

    @pytest.mark.parametrize("stdin", [None, io.StringIO(), CLOSED], ids=["none", "a file", "closed"])
    def test_without_a_terminal_it_would_wait_for_ever(self, stdin: TextIO | None) -> None:
        with pytest.raises(UsageError, match="without a terminal") as refused:
            require_way_on(self.POINTS, None, stdin)
        assert "--pause-limit" in (refused.value.hint or "")

    def test_a_terminal_or_a_limit_or_nothing_to_wait_for(self, terminal: tuple[TextIO, int]) -> None:
        require_way_on(self.POINTS, None, terminal[0])
        require_way_on(self.POINTS, timedelta(seconds=1), None)
        require_way_on((), None, None)


def test_the_driver_is_started_under_the_debugger_and_waits() -> None:
    debugger = Debugger("driver", 5678)
    launch = debugger.around(LAUNCH)
    command = launch.argv
    assert command[0] == "/python"
    assert command[-6:] == PIPELINE[1:]
    debugpy = command[command.index("debugpy") - 1 : -6]
    assert debugpy == ("-m", "debugpy", "--listen", "127.0.0.1:5678", "--wait-for-client")
    assert debugger.spark_settings() == {}
    assert "DEVKIT_DEBUG_PORT" not in launch.environment


def test_the_worker_listens_by_sparks_own_settings() -> None:
    debugger = Debugger("worker", 5678)
    launch = debugger.around(LAUNCH)
    assert launch.argv == PIPELINE
    assert (launch.environment["DEVKIT_DEBUG_PORT"], launch.environment["AWS_REGION"]) == ("5678", "here")
    # One slot, so one worker: with two, one would run past everybody.
    assert debugger.spark_settings() == {
        "spark.master": "local[1]",
        "spark.python.daemon.module": "devkit.debug.spark_daemon",
    }


def test_the_invitation_can_be_pasted() -> None:
    invitation = Debugger("driver", 5678).invitation()
    assert "127.0.0.1:5678" in invitation
    assert json.loads(invitation[invitation.index("{") :])["connect"] == {"host": "127.0.0.1", "port": 5678}


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
