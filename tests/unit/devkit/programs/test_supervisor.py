"""The supervisor against a guardian made of files: what it starts, when, and what it tells."""

import json
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.container.container_watch import ContainerWatch
from devkit.container.kill import ContainerKill
from devkit.container.memory import TreeMemory
from devkit.errors import StackError
from devkit.guardian import Guardian
from devkit.observe.logs.logs import LoggedException
from devkit.observe.timeline.kit_events import ProcessEnded, ProcessOverLimit, ProcessRestarted, ProgramEvent
from devkit.programs.launch import Addition, Launch
from devkit.programs.program_state import ProgramState
from devkit.programs.spark.view import SparkView
from devkit.programs.supervisor import Restart, Supervisor
from devkit.programs.supervisor_policy import SupervisorPolicy
from devkit.programs.view import View
from pipeline.events import BatchStarted, ClaimStoreBack, Failed, Started
from tests.unit.devkit.programs.file_guardian import FileGuardian


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


POLICY = SupervisorPolicy(delay=timedelta(seconds=5))
PIPELINE = Launch(("python", "-m", "pipeline"), {"SPARK": "x"}, first=Addition(("--new", "earliest")))


@pytest.fixture
def guardian(tmp_path: Path) -> FileGuardian:
    return FileGuardian(tmp_path)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def supervisor(guardian: FileGuardian, clock: Clock, tmp_path: Path) -> Supervisor:
    view = SparkView(ProgramState())
    return Supervisor(
        cast(Guardian, guardian),
        view,
        logs=tmp_path / "logs",
        policy=POLICY,
        clock=clock,
    )


def begin(supervisor: Supervisor, guardian: FileGuardian) -> None:
    """A first process whose query runs."""
    supervisor.start(PIPELINE)
    guardian.started[0].says({"event": "started"})
    assert list(supervisor.poll()) == [Started()]


def test_an_end_before_the_query_began_says_nothing_of_the_incident(
    supervisor: Supervisor, guardian: FileGuardian
) -> None:
    supervisor.start(PIPELINE)
    guardian.started[0].exit_code = 1
    with pytest.raises(StackError, match="exit code 1 before its query began: error: no such topic") as caught:
        list(supervisor.poll())
    assert "doctor" in (caught.value.hint or "")


def test_the_first_start_makes_the_checkpoint(supervisor: Supervisor, guardian: FileGuardian) -> None:
    supervisor.start(PIPELINE)
    (process,) = guardian.started
    assert process.argv == ["python", "-m", "pipeline", "--new", "earliest"]
    assert process.env == {"SPARK": "x"}
    assert (supervisor.starts, supervisor.restarts) == (1, 0)


def test_the_process_is_the_newest(supervisor: Supervisor, guardian: FileGuardian, clock: Clock) -> None:
    assert supervisor.process is None
    begin(supervisor, guardian)
    guardian.started[0].exit_code = 1
    list(supervisor.poll())
    assert supervisor.process is guardian.started[0]
    clock.now += 5
    list(supervisor.poll())
    assert supervisor.process is guardian.started[1]


def test_passes_on_what_the_pipeline_says(supervisor: Supervisor, guardian: FileGuardian) -> None:
    supervisor.start(PIPELINE)
    assert list(supervisor.poll()) == []
    guardian.started[0].says({"event": "started"}, "a library that prints", {"event": "batch_started", "batch": 0})
    assert list(supervisor.poll()) == [Started(), BatchStarted(batch=0)]
    assert list(supervisor.poll()) == []


def test_what_only_workers_say_is_read_of_standard_error(supervisor: Supervisor, guardian: FileGuardian) -> None:
    begin(supervisor, guardian)
    back = {"event": "claim_store_back", "store": "s3", "seconds": 4.5}
    guardian.started[0].stderr.write_text(f'WARN Spark: x\n{json.dumps(back)}\n{{"event": "failed", "error": "x"}}\n')
    assert list(supervisor.poll()) == [ClaimStoreBack(store="s3", seconds=4.5)]
    assert list(supervisor.poll()) == []


def test_what_the_dead_process_said_comes_before_its_end(supervisor: Supervisor, guardian: FileGuardian) -> None:
    begin(supervisor, guardian)
    guardian.started[0].says({"event": "batch_started", "batch": 0}, {"event": "failed", "error": "too large"})
    guardian.started[0].exit_code = 1
    assert [event.event for event in supervisor.poll()] == ["batch_started", "failed", "process_ended"]


def test_the_end_is_told_once_with_its_exit_code(supervisor: Supervisor, guardian: FileGuardian) -> None:
    begin(supervisor, guardian)
    guardian.started[0].exit_code = -9
    assert list(supervisor.poll()) == [ProcessEnded(process=1, exit_code=-9)]
    assert list(supervisor.poll()) == []
    assert supervisor.exit_codes == [-9]


def test_the_rest_is_what_was_said_since_the_last_look(supervisor: Supervisor, guardian: FileGuardian) -> None:
    begin(supervisor, guardian)
    guardian.started[0].says({"event": "batch_started", "batch": 0}, {"event": "failed", "error": "too large"})
    supervisor.stop()
    guardian.started[0].says({"event": "batch_started", "batch": 1})
    assert list(supervisor.rest()) == [BatchStarted(batch=0), Failed(error="too large"), BatchStarted(batch=1)]
    assert list(supervisor.rest()) == []


def test_the_kill_of_the_stop_is_no_end_and_no_failure(supervisor: Supervisor, guardian: FileGuardian) -> None:
    begin(supervisor, guardian)
    supervisor.stop()
    guardian.started[0].exit_code = -9
    guardian.started[0].says({"event": "failed", "error": "the JVM is gone"})
    assert list(supervisor.rest()) == []
    assert (supervisor.exit_codes, supervisor.starts) == ([], 1)


def test_one_that_was_never_started_has_no_rest(supervisor: Supervisor) -> None:
    supervisor.stop()
    assert list(supervisor.rest()) == []


def test_what_outlives_the_driver_is_ended_before_the_restart(
    supervisor: Supervisor, guardian: FileGuardian, clock: Clock
) -> None:
    begin(supervisor, guardian)
    guardian.started[0].exit_code = 1
    list(supervisor.poll())
    assert guardian.started[0].killed == 1


def test_restarts_from_the_checkpoint_when_the_delay_is_over(
    supervisor: Supervisor, guardian: FileGuardian, clock: Clock
) -> None:
    begin(supervisor, guardian)
    guardian.started[0].exit_code = 1
    list(supervisor.poll())
    clock.now += 4.999
    assert list(supervisor.poll()) == []
    assert len(guardian.started) == 1
    clock.now += 0.001
    assert list(supervisor.poll()) == [ProcessRestarted(process=2, pid=1002)]
    assert guardian.started[1].argv == ["python", "-m", "pipeline"]
    assert (supervisor.starts, supervisor.restarts) == (2, 1)


def test_every_end_is_followed_by_its_restart_in_order(
    supervisor: Supervisor, guardian: FileGuardian, clock: Clock
) -> None:
    begin(supervisor, guardian)
    events: list[ProgramEvent] = []
    for code in (1, -9, 137):
        guardian.started[-1].says({"event": "batch_started", "batch": len(guardian.started)})
        guardian.started[-1].exit_code = code
        for _ in range(2):
            events += supervisor.poll()
            clock.now += 5
    assert supervisor.exit_codes == [1, -9, 137]
    assert events == [
        event
        for process, code in ((1, 1), (2, -9), (3, 137))
        for event in (
            BatchStarted(batch=process),
            ProcessEnded(process=process, exit_code=code),
            ProcessRestarted(process=process + 1, pid=1001 + process),
        )
    ]


def test_a_line_of_the_new_process_is_read_from_its_own_file(
    supervisor: Supervisor, guardian: FileGuardian, clock: Clock
) -> None:
    begin(supervisor, guardian)
    guardian.started[0].exit_code = 1
    list(supervisor.poll())
    clock.now += 5
    list(supervisor.poll())
    guardian.started[1].says({"event": "started"})
    assert list(supervisor.poll()) == [Started()]


def test_a_pipeline_that_refuses_to_run_is_not_restarted(supervisor: Supervisor, guardian: FileGuardian) -> None:
    supervisor.start(PIPELINE)
    guardian.started[0].says({"event": "failed", "refused": True})
    guardian.started[0].exit_code = 2
    events: list[dict[str, Any]] = []
    with pytest.raises(StackError, match=r"^the pipeline refused to run: error: no such topic$"):
        events.extend(supervisor.poll())
    assert len(guardian.started) == 1


def test_stop_ends_the_present_process(supervisor: Supervisor, guardian: FileGuardian, clock: Clock) -> None:
    begin(supervisor, guardian)
    guardian.started[0].exit_code = 1
    list(supervisor.poll())
    clock.now += 5
    list(supervisor.poll())
    supervisor.stop()
    assert [process.killed for process in guardian.started] == [1, 1]


def test_a_program_that_reported_nothing_is_quoted_from_its_log(
    supervisor: Supervisor, guardian: FileGuardian, clock: Clock
) -> None:
    assert supervisor.last_complaint() is None
    begin(supervisor, guardian)
    guardian.started[0].exit_code = 1
    list(supervisor.poll())
    complaint = supervisor.last_complaint()
    assert complaint is not None
    assert (complaint.kind, complaint.text, complaint.process) == ("last lines of its log", "error: no such topic", 1)
    guardian.started[0].stderr.write_text("x: java.lang.OutOfMemoryError: no room\n")
    complaint = supervisor.last_complaint()
    assert complaint is not None
    assert (complaint.kind, complaint.text) == ("exception", "OutOfMemoryError: no room")


def test_stop_before_any_start_is_nothing(supervisor: Supervisor) -> None:
    supervisor.stop()
    assert (supervisor.starts, supervisor.restarts, supervisor.exceptions()) == (0, 0, ())


def test_exceptions_of_each_process_are_kept_apart(
    supervisor: Supervisor, guardian: FileGuardian, clock: Clock
) -> None:
    begin(supervisor, guardian)
    guardian.started[0].stderr.write_text("a.b.OneException: first\na.b.OneException: first\n")
    guardian.started[0].exit_code = 1
    list(supervisor.poll())
    clock.now += 5
    list(supervisor.poll())
    guardian.started[1].stderr.write_text("a.b.OneException: first\n")
    assert supervisor.exceptions() == (
        LoggedException(1, "OneException", "first"),
        LoggedException(2, "OneException", "first"),
    )


class TestCommand:
    """A command, which need say nothing."""

    def started(
        self,
        guardian: FileGuardian,
        clock: Clock,
        tmp_path: Path,
        *,
        shows_life: bool,
    ) -> Supervisor:
        view = SimpleNamespace(
            refused=lambda _: False,
            shows_life=lambda: shows_life,
            writes_events=True,
            worker_events=(),
            beginning="it did anything",
        )
        supervisor = Supervisor(
            cast(Guardian, guardian),
            cast(View, view),
            logs=tmp_path / "logs",
            policy=POLICY,
            clock=clock,
        )
        first, again = Addition(environment={"START": "new"}), Addition(environment={"START": "checkpoint"})
        supervisor.start(Launch(("mine", "x"), {"A": "b"}, first=first, again=again))
        return supervisor

    def test_it_is_told_where_to_start(self, guardian: FileGuardian, clock: Clock, tmp_path: Path) -> None:
        supervisor = self.started(guardian, clock, tmp_path, shows_life=True)
        guardian.started[0].exit_code = 0
        list(supervisor.poll())
        clock.now += 5
        list(supervisor.poll())
        assert [process.argv for process in guardian.started] == [["mine", "x"]] * 2
        assert [process.env["START"] for process in guardian.started] == ["new", "checkpoint"]
        assert guardian.started[0].env["A"] == "b"

    def test_no_exit_code_is_a_refusal(self, guardian: FileGuardian, clock: Clock, tmp_path: Path) -> None:
        supervisor = self.started(guardian, clock, tmp_path, shows_life=True)
        guardian.started[0].exit_code = 2
        assert list(supervisor.poll()) == [ProcessEnded(process=1, exit_code=2)]

    def test_an_end_before_it_did_anything(self, guardian: FileGuardian, clock: Clock, tmp_path: Path) -> None:
        supervisor = self.started(guardian, clock, tmp_path, shows_life=False)
        guardian.started[0].exit_code = 1
        with pytest.raises(StackError, match="exit code 1 before it did anything"):
            list(supervisor.poll())


class TestPolicy:
    """After which ends a program is started again."""

    @pytest.mark.parametrize(
        ("restart", "exit_code", "restarts"),
        [
            ("always", 0, 1),
            ("always", 1, 1),
            ("on-failure", 0, 0),
            ("on-failure", 1, 1),
            ("never", 0, 0),
            ("never", 1, 0),
        ],
    )
    def test_after_an_end(
        self,
        guardian: FileGuardian,
        clock: Clock,
        tmp_path: Path,
        restart: Restart,
        exit_code: int,
        restarts: int,
    ) -> None:
        supervisor = Supervisor(
            cast(Guardian, guardian),
            SparkView(ProgramState()),
            logs=tmp_path,
            policy=POLICY,
            restart=restart,
            name="reader",
            clock=clock,
        )
        begin(supervisor, guardian)
        guardian.started[0].exit_code = exit_code
        assert list(supervisor.poll()) == [ProcessEnded(process=1, exit_code=exit_code)]
        clock.now += 5
        events = [event.event for event in supervisor.poll()]
        assert events == ["process_restarted"] * restarts
        assert (supervisor.restarts, supervisor.is_over) == (restarts, not restarts)
        assert supervisor.ended_with == (None if restarts else exit_code)
        assert supervisor.exit_codes == [exit_code]
        assert guardian.started[0].stdout.name == "reader-1.out"

    def test_one_that_is_not_restarted_may_end_before_it_did_anything(
        self, guardian: FileGuardian, clock: Clock, tmp_path: Path
    ) -> None:
        supervisor = Supervisor(
            cast(Guardian, guardian),
            SparkView(ProgramState()),
            logs=tmp_path,
            policy=POLICY,
            restart="never",
            clock=clock,
        )
        supervisor.start(PIPELINE)
        guardian.started[0].exit_code = 3
        assert list(supervisor.poll()) == [ProcessEnded(process=1, exit_code=3)]
        assert (supervisor.is_over, supervisor.ended_with) == (True, 3)

    def test_what_writes_no_events_is_not_read(self, guardian: FileGuardian, tmp_path: Path) -> None:
        view = cast(View, SimpleNamespace(writes_events=False, worker_events=()))
        supervisor = Supervisor(cast(Guardian, guardian), view, logs=tmp_path, policy=POLICY)
        supervisor.start(PIPELINE)
        guardian.started[0].says({"event": "started"})
        assert list(supervisor.poll()) == []

    def test_one_that_has_not_been_started_has_nothing_to_say(self, supervisor: Supervisor) -> None:
        assert list(supervisor.poll()) == []
        assert not supervisor.is_over


@dataclass
class Watch:
    """A container's watch that kills when the test says so."""

    kill: ContainerKill | None = None
    looks_at: int | None = None

    def start(self, process: int) -> None:
        self.looks_at = process

    def stop(self) -> None:
        self.looks_at = None

    def kill_of(self, process: int) -> ContainerKill | None:
        return self.kill if self.kill and self.kill.process == process else None


def over_limit(process: int) -> ContainerKill:
    return ContainerKill(
        process=process, limit="memory", allowed=1, used=2, memory=TreeMemory(rows=(), measure="resident")
    )


class TestContainer:
    @pytest.fixture
    def watch(self) -> Watch:
        return Watch()

    @pytest.fixture
    def supervisor(self, guardian: FileGuardian, clock: Clock, tmp_path: Path, watch: Watch) -> Supervisor:
        return Supervisor(
            cast(Guardian, guardian),
            SparkView(ProgramState()),
            logs=tmp_path / "logs",
            policy=POLICY,
            clock=clock,
            container=cast(ContainerWatch, watch),
        )

    def test_a_kill_is_told_before_the_end_and_the_end_is_137(
        self, supervisor: Supervisor, guardian: FileGuardian, watch: Watch
    ) -> None:
        begin(supervisor, guardian)
        watch.kill, guardian.started[0].exit_code = over_limit(1), -9
        assert list(supervisor.poll()) == [
            ProcessOverLimit.of(over_limit(1)),
            ProcessEnded(process=1, exit_code=137),
        ]
        assert supervisor.exit_codes == [137]

    def test_a_process_killed_before_its_query_began_is_started_again(
        self, supervisor: Supervisor, guardian: FileGuardian, watch: Watch, clock: Clock
    ) -> None:
        supervisor.start(PIPELINE)
        watch.kill, guardian.started[0].exit_code = over_limit(1), -9
        list(supervisor.poll())
        clock.now += 5
        list(supervisor.poll())
        assert (len(guardian.started), watch.looks_at) == (2, 2)

    def test_another_end_is_what_it_is(self, supervisor: Supervisor, guardian: FileGuardian) -> None:
        begin(supervisor, guardian)
        guardian.started[0].exit_code = -9
        assert list(supervisor.poll()) == [ProcessEnded(process=1, exit_code=-9)]

    def test_nobody_looks_at_a_program_that_was_stopped(
        self, supervisor: Supervisor, guardian: FileGuardian, watch: Watch
    ) -> None:
        begin(supervisor, guardian)
        supervisor.stop()
        assert watch.looks_at is None


class TestOperator:
    """What is done by hand to a program, beside its supervisor."""

    def test_a_start_after_it_was_over_is_no_restart(
        self, supervisor: Supervisor, guardian: FileGuardian, clock: Clock
    ) -> None:
        supervisor._may_refuse = True
        begin(supervisor, guardian)
        guardian.started[0].says({"event": "failed", "error": "no position", "refused": True, "stalled": False})
        guardian.started[0].exit_code = 2
        assert [event.event for event in supervisor.poll()] == ["failed", "process_ended", "start_refused"]
        assert (supervisor.is_over, supervisor.refusal) == (True, "no position")
        other = Launch(("python", "-m", "another"), {})
        started = supervisor.start_again(other, Addition(("--new", "latest")))
        assert started == ProcessRestarted(process=2, pid=1002, by="operator")
        assert guardian.started[1].argv == ["python", "-m", "another", "--new", "latest"]
        assert (supervisor.is_over, supervisor.starts, supervisor.restarts) == (False, 2, 0)
        guardian.started[1].exit_code = 1
        list(supervisor.poll())
        clock.now += 5
        assert list(supervisor.poll()) == [ProcessRestarted(process=3, pid=1003)]
        assert guardian.started[2].argv == ["python", "-m", "another"]
        assert supervisor.restarts == 1

    def test_one_that_waits_for_its_restart_is_over_when_it_is_stopped(
        self, supervisor: Supervisor, guardian: FileGuardian, clock: Clock
    ) -> None:
        begin(supervisor, guardian)
        guardian.started[0].exit_code = 1
        list(supervisor.poll())
        supervisor.end_gracefully()
        clock.now += 5
        assert list(supervisor.poll()) == []
        assert (supervisor.is_over, len(guardian.started)) == (True, 1)
