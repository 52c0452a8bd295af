"""The supervisor against a guardian made of files: what it starts, when, and what it tells."""

import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from devkit.container.container_watch import ContainerWatch
from devkit.container.kill import ContainerKill
from devkit.container.memory import TreeMemory
from devkit.errors import StackError
from devkit.observe.logs.logs import LoggedException
from devkit.observe.timeline.kit_events import ProcessEnded, ProcessOverLimit, ProcessRestarted, ProgramEvent
from devkit.programs.launch import Addition, Launch
from devkit.programs.supervisor import Restart
from pipeline.events import BatchStarted, ClaimStoreBack, Failed, Started
from tests.unit.devkit.programs.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_an_end_before_the_query_began_says_nothing_of_the_incident(bench: Bench) -> None:
    bench.start()
    with pytest.raises(StackError, match="exit code 1 before its query began: error: no such topic") as caught:
        bench.end()
    assert "doctor" in (caught.value.hint or "")


def test_the_first_start_makes_the_checkpoint(bench: Bench) -> None:
    bench.start()
    (process,) = bench.started
    assert process.argv == ["python", "-m", "pipeline", "--new", "earliest"]
    assert process.env == {"SPARK": "x"}
    assert (bench.supervisor.starts, bench.supervisor.restarts) == (1, 0)


def test_the_process_is_the_newest(bench: Bench) -> None:
    assert bench.supervisor.process is None
    bench.begin()
    bench.end()
    assert bench.supervisor.process is bench.started[0]
    bench.wait()
    assert bench.supervisor.process is bench.started[1]


def test_passes_on_what_the_pipeline_says(bench: Bench) -> None:
    bench.start()
    assert bench.poll() == []
    bench.started[0].says({"event": "started"}, "a library that prints", {"event": "batch_started", "batch": 0})
    assert bench.poll() == [Started(), BatchStarted(batch=0)]
    assert bench.poll() == []


def test_what_only_workers_say_is_read_of_standard_error(bench: Bench) -> None:
    bench.begin()
    back = {"event": "claim_store_back", "store": "s3", "seconds": 4.5}
    bench.started[0].stderr.write_text(f'WARN Spark: x\n{json.dumps(back)}\n{{"event": "failed", "error": "x"}}\n')
    assert bench.poll() == [ClaimStoreBack(store="s3", seconds=4.5)]
    assert bench.poll() == []


def test_what_the_dead_process_said_comes_before_its_end(bench: Bench) -> None:
    bench.begin()
    bench.started[0].says({"event": "batch_started", "batch": 0}, {"event": "failed", "error": "too large"})
    assert [event.event for event in bench.end()] == ["batch_started", "failed", "process_ended"]


def test_the_rest_is_what_was_said_since_the_last_look(bench: Bench) -> None:
    bench.begin()
    bench.started[0].says({"event": "batch_started", "batch": 0}, {"event": "failed", "error": "too large"})
    bench.supervisor.stop()
    bench.started[0].says({"event": "batch_started", "batch": 1})
    rest = [BatchStarted(batch=0), Failed(error="too large"), BatchStarted(batch=1)]
    assert [list(bench.supervisor.rest()) for _ in range(2)] == [rest, []]


def test_the_kill_of_the_stop_is_no_end_and_no_failure(bench: Bench) -> None:
    bench.begin()
    bench.supervisor.stop()
    bench.started[0].exit_code = -9
    bench.started[0].says({"event": "failed", "error": "the JVM is gone"})
    assert list(bench.supervisor.rest()) == []
    assert (bench.supervisor.exit_codes, bench.supervisor.starts) == ([], 1)


def test_one_that_was_never_started_has_no_rest(bench: Bench) -> None:
    bench.supervisor.stop()
    assert list(bench.supervisor.rest()) == []
    assert (bench.supervisor.starts, bench.supervisor.restarts, bench.supervisor.exceptions()) == (0, 0, ())


def test_restarts_from_the_checkpoint_when_the_delay_is_over(bench: Bench) -> None:
    bench.begin()
    bench.end()
    assert bench.wait(4.999) == []
    assert len(bench.started) == 1
    assert bench.started[0].killed == 1, "what outlives the driver"
    assert bench.wait(0.001) == [ProcessRestarted(process=2, pid=1002)]
    assert bench.started[1].argv == ["python", "-m", "pipeline"]
    assert (bench.supervisor.starts, bench.supervisor.restarts) == (2, 1)
    bench.started[1].says({"event": "started"})
    assert bench.poll() == [Started()]


def test_every_end_is_followed_by_its_restart_in_order(bench: Bench) -> None:
    bench.begin()
    events: list[ProgramEvent] = []
    for code in (1, -9, 137):
        bench.started[-1].says({"event": "batch_started", "batch": len(bench.started)})
        events += [*bench.end(code), *bench.poll(), *bench.wait()]
        bench.clock.now += 5
    assert bench.supervisor.exit_codes == [1, -9, 137]
    assert events == [
        event
        for process, code in ((1, 1), (2, -9), (3, 137))
        for event in (
            BatchStarted(batch=process),
            ProcessEnded(process=process, exit_code=code),
            ProcessRestarted(process=process + 1, pid=1001 + process),
        )
    ]


def test_a_pipeline_that_refuses_to_run_is_not_restarted(bench: Bench) -> None:
    bench.start()
    bench.started[0].says({"event": "failed", "refused": True})
    with pytest.raises(StackError, match=r"^the pipeline refused to run: error: no such topic$"):
        bench.end(2)
    assert len(bench.started) == 1


def test_stop_ends_the_present_process(bench: Bench) -> None:
    bench.begin()
    bench.restart()
    bench.supervisor.stop()
    assert [process.killed for process in bench.started] == [1, 1]


def test_a_program_that_reported_nothing_is_quoted_from_its_log(bench: Bench) -> None:
    def complaint() -> tuple[str, str, int] | None:
        last = bench.supervisor.last_complaint()
        return last and (last.kind, last.text, last.process)

    assert complaint() is None
    bench.begin()
    bench.end()
    assert complaint() == ("last lines of its log", "error: no such topic", 1)
    bench.started[0].stderr.write_text("x: java.lang.OutOfMemoryError: no room\n")
    assert complaint() == ("exception", "OutOfMemoryError: no room", 1)


@pytest.mark.parametrize(
    ("code", "printed"),
    [(-9, "at offset 17\n"), (-9, ""), (-15, "at offset 17\n"), (1, "")],
    ids=["killed", "killed in silence", "terminated", "ended in silence"],
)
def test_a_process_that_has_nothing_to_say_of_its_end_is_not_quoted(tmp_path: Path, code: int, printed: str) -> None:
    """What one had printed that a fault killed names no problem; a later one may."""
    bench = Bench(tmp_path, may_never_run=True).start()
    bench.started[0].stderr.write_text(printed)
    bench.end(code)
    assert bench.supervisor.last_complaint() is None
    bench.wait()
    bench.started[1].stderr.write_text("error: no such topic\n")
    bench.end()
    complaint = bench.supervisor.last_complaint()
    assert complaint is not None
    assert complaint.process == 2


def test_exceptions_of_each_process_are_kept_apart(bench: Bench) -> None:
    bench.begin()
    bench.started[0].stderr.write_text("a.b.OneException: first\na.b.OneException: first\n")
    bench.restart()
    bench.started[1].stderr.write_text("a.b.OneException: first\n")
    assert bench.supervisor.exceptions() == tuple(LoggedException(n, "OneException", "first") for n in (1, 2))


class TestCommand:
    """A command, which need say nothing."""

    def started(self, directory: Path, *, shows_life: bool) -> Bench:
        view = SimpleNamespace(
            refused=lambda _: False,
            shows_life=lambda: shows_life,
            writes_events=True,
            worker_events=(),
            beginning="it did anything",
        )
        bench = Bench(directory, view)
        first, again = Addition(environment={"START": "new"}), Addition(environment={"START": "checkpoint"})
        bench.supervisor.start(Launch(("mine", "x"), {"A": "b"}, first=first, again=again))
        return bench

    def test_it_is_told_where_to_start(self, tmp_path: Path) -> None:
        bench = self.started(tmp_path, shows_life=True)
        bench.end(0)
        bench.wait()
        assert [process.argv for process in bench.started] == [["mine", "x"]] * 2
        assert [process.env["START"] for process in bench.started] == ["new", "checkpoint"]
        assert bench.started[0].env["A"] == "b"

    def test_no_exit_code_is_a_refusal(self, tmp_path: Path) -> None:
        assert self.started(tmp_path, shows_life=True).end(2) == [ProcessEnded(process=1, exit_code=2)]

    def test_an_end_before_it_did_anything(self, tmp_path: Path) -> None:
        with pytest.raises(StackError, match="exit code 1 before it did anything"):
            self.started(tmp_path, shows_life=False).end()


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
    def test_after_an_end(self, tmp_path: Path, restart: Restart, exit_code: int, restarts: int) -> None:
        bench = Bench(tmp_path, restart=restart, name="reader")
        bench.begin()
        assert bench.end(exit_code) == [ProcessEnded(process=1, exit_code=exit_code)]
        assert [event.event for event in bench.wait()] == ["process_restarted"] * restarts
        assert (bench.supervisor.restarts, bench.supervisor.is_over) == (restarts, not restarts)
        assert bench.supervisor.ended_with == (None if restarts else exit_code)
        assert bench.supervisor.exit_codes == [exit_code]
        assert bench.started[0].stdout.name == "reader-1.out"

    def test_one_that_is_not_restarted_may_end_before_it_did_anything(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path, restart="never").start()
        assert bench.end(3) == [ProcessEnded(process=1, exit_code=3)]
        assert (bench.supervisor.is_over, bench.supervisor.ended_with) == (True, 3)

    def test_what_writes_no_events_is_not_read(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path, SimpleNamespace(writes_events=False, worker_events=())).start()
        bench.started[0].says({"event": "started"})
        assert bench.poll() == []

    def test_one_that_has_not_been_started_has_nothing_to_say(self, bench: Bench) -> None:
        assert bench.poll() == []
        assert not bench.supervisor.is_over


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


class TestContainer:
    OVER_LIMIT = ContainerKill(
        process=1, limit="memory", allowed=1, used=2, memory=TreeMemory(rows=(), measure="resident")
    )

    @pytest.fixture
    def watch(self) -> Watch:
        return Watch()

    @pytest.fixture
    def bench(self, tmp_path: Path, watch: Watch) -> Bench:
        return Bench(tmp_path, container=cast(ContainerWatch, watch))

    def test_a_kill_is_told_before_the_end_and_the_end_is_137(self, bench: Bench, watch: Watch) -> None:
        bench.begin()
        watch.kill = self.OVER_LIMIT
        assert bench.end(-9) == [ProcessOverLimit.of(self.OVER_LIMIT), ProcessEnded(process=1, exit_code=137)]
        assert bench.supervisor.exit_codes == [137]

    def test_a_process_killed_before_its_query_began_is_started_again(self, bench: Bench, watch: Watch) -> None:
        bench.start()
        watch.kill = self.OVER_LIMIT
        bench.end(-9)
        bench.wait()
        assert (len(bench.started), watch.looks_at) == (2, 2)

    def test_another_end_is_what_it_is(self, bench: Bench) -> None:
        bench.begin()
        assert bench.end(-9) == [ProcessEnded(process=1, exit_code=-9)]

    def test_nobody_looks_at_a_program_that_was_stopped(self, bench: Bench, watch: Watch) -> None:
        bench.begin()
        bench.supervisor.stop()
        assert watch.looks_at is None


class TestOperator:
    """What is done by hand to a program, beside its supervisor."""

    def test_a_start_after_it_was_over_is_no_restart(self, bench: Bench) -> None:
        supervisor = bench.supervisor
        supervisor._may_refuse = True
        bench.begin()
        bench.started[0].says({"event": "failed", "error": "no position", "refused": True, "stalled": False})
        assert [event.event for event in bench.end(2)] == ["failed", "process_ended", "start_refused"]
        assert (supervisor.is_over, supervisor.refusal) == (True, "no position")
        other = Launch(("python", "-m", "another"), {})
        started = supervisor.start_again(other, Addition(("--new", "latest")))
        assert started == ProcessRestarted(process=2, pid=1002, by="operator")
        assert bench.started[1].argv == ["python", "-m", "another", "--new", "latest"]
        assert (supervisor.is_over, supervisor.starts, supervisor.restarts) == (False, 2, 0)
        bench.end()
        assert bench.wait() == [ProcessRestarted(process=3, pid=1003)]
        assert bench.started[2].argv == ["python", "-m", "another"]
        assert supervisor.restarts == 1

    def test_one_that_waits_for_its_restart_is_over_when_it_is_stopped(self, bench: Bench) -> None:
        bench.begin()
        bench.end()
        bench.supervisor.end_gracefully()
        assert bench.wait() == []
        assert (bench.supervisor.is_over, len(bench.started)) == (True, 1)
