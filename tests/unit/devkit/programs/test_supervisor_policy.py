"""When a supervisor starts again, and when it gives up, against a guardian made of files."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from devkit.guardian import Guardian
from devkit.observe.timeline.kit_events import ProcessEnded, ProgramEvent, StartRefused, SupervisorGaveUp
from devkit.programs.launch import NOTHING, Launch
from devkit.programs.program_state import ProgramState
from devkit.programs.spark.view import SparkView
from devkit.programs.supervisor import Supervisor
from devkit.programs.supervisor_policy import SupervisorPolicy
from tests.unit.devkit.faults.fakes import Clock
from tests.unit.devkit.programs.file_guardian import FileGuardian

Make = Callable[..., "Crashing"]


class Crashing:
    """A program that is started and ends again."""

    def __init__(self, supervisor: Supervisor, guardian: FileGuardian, clock: Clock) -> None:
        self.supervisor, self._guardian, self._clock = supervisor, guardian, clock
        supervisor.start(Launch(("python",), {}))

    def ends_after(self, seconds: float) -> list[str]:
        """The events of the end of a process that ran for this time, by name."""
        return [event.event for event in self.events_after(seconds)]

    def events_after(self, seconds: float) -> list[ProgramEvent]:
        """The events themselves."""
        process = self._guardian.started[-1]
        process.says({"event": "started"})
        list(self.supervisor.poll())
        self._clock.now += seconds
        process.exit_code = 1
        return list(self.supervisor.poll())

    def delay(self) -> float:
        """Seconds until the next process is started; it is, then."""
        began, starts = self._clock.now, self.supervisor.starts
        while self.supervisor.starts == starts:
            self._clock.now += 0.5
            list(self.supervisor.poll())
        return self._clock.now - began


@pytest.fixture
def crashing(tmp_path: Path) -> Make:
    def make(policy: SupervisorPolicy, **settings: Any) -> Crashing:
        guardian, clock = FileGuardian(tmp_path), Clock()
        view, logs = SparkView(ProgramState()), tmp_path / "logs"
        supervisor = Supervisor(cast(Guardian, guardian), view, logs=logs, policy=policy, clock=clock, **settings)
        return Crashing(supervisor, guardian, clock)

    return make


def test_it_gives_up_at_the_end_after_its_last_attempt(crashing: Make) -> None:
    program = crashing(SupervisorPolicy(attempts=2))
    for _ in range(2):
        assert program.ends_after(1) == ["process_ended"]
        program.delay()
    assert program.ends_after(1) == ["process_ended", "supervisor_gave_up"]
    supervisor = program.supervisor
    assert (supervisor.gave_up, supervisor.is_over, supervisor.ended_with, supervisor.restarts) == (True, True, 1, 2)
    assert list(supervisor.poll()) == []


def test_it_says_how_many_restarts_were_in_vain(crashing: Make) -> None:
    program = crashing(SupervisorPolicy(attempts=1))
    program.ends_after(1)
    program.delay()
    assert program.events_after(1)[-1] == SupervisorGaveUp(restarts=1, after="1 restart in a row", exit_code=1)
    assert program.supervisor.gave_up_after == "1 restart in a row"


@pytest.mark.parametrize(
    ("policy", "runs", "after"),
    [
        pytest.param({"attempts": 2, "within": "10s"}, (1, 1, 1), "2 restarts within 10s", id="crash loop"),
        pytest.param({"attempts": 2, "within": "10s"}, (1, 9, 1, 9, 1), "", id="too slow for the window"),
        pytest.param({"attempts": 2, "within": "10s"}, (9, 9, 9, 1, 1), "2 restarts within 10s", id="becomes fast"),
        pytest.param({"attempts": 2, "within": "3s"}, (1, 1, 1), "2 restarts within 3s", id="just within"),
        pytest.param({"attempts": 2, "within": "2s"}, (1, 1, 1), "", id="as old as the window"),
        pytest.param(
            {"attempts": 2, "within": "1m", "reset_after": "5s"}, (6, 6, 6), "2 restarts within 1m", id="of any row"
        ),
        pytest.param({"attempts": 2, "reset_after": "5s"}, (6, 6, 6), "", id="of a row"),
    ],
)
def test_attempts_count_restarts_of_a_row_or_of_a_time(
    crashing: Make, policy: dict[str, Any], runs: tuple[float, ...], after: str
) -> None:
    program = crashing(SupervisorPolicy.model_validate({"delay": "500ms"} | policy))
    for ran in runs[:-1]:
        assert program.ends_after(ran) == ["process_ended"]
        program.delay()
    assert program.ends_after(runs[-1]) == ["process_ended", *(["supervisor_gave_up"] if after else [])]
    assert program.supervisor.gave_up_after == after


def test_a_start_by_an_operator_forgets_the_restarts_before_it(crashing: Make) -> None:
    program = crashing(SupervisorPolicy.model_validate({"attempts": 1, "within": "1h"}))
    program.ends_after(1)
    program.delay()
    assert program.ends_after(1)[-1] == "supervisor_gave_up"
    program.supervisor.start_again(Launch(("python",), {}), NOTHING)
    assert (program.supervisor.gave_up, program.supervisor.gave_up_after) == (False, "")
    assert program.ends_after(1) == ["process_ended"]


def test_without_a_number_of_attempts_it_never_gives_up(crashing: Make) -> None:
    program = crashing(SupervisorPolicy())
    for _ in range(20):
        assert program.ends_after(1) == ["process_ended"]
        program.delay()
    assert not program.supervisor.gave_up


def test_the_delay_grows_by_the_backoff(crashing: Make) -> None:
    program = crashing(SupervisorPolicy(delay=timedelta(seconds=1), backoff=3))
    delays = []
    for _ in range(3):
        program.ends_after(1)
        delays.append(program.delay())
    assert delays == [1, 3, 9]


def test_a_process_that_ran_long_enough_begins_a_new_row(crashing: Make) -> None:
    policy = SupervisorPolicy(delay=timedelta(seconds=1), backoff=2, attempts=2, reset_after=timedelta(seconds=10))
    program = crashing(policy)
    delays = []
    for ran in (1, 1, 10, 1):
        assert program.ends_after(ran) == ["process_ended"]
        delays.append(program.delay())
    assert delays == [1, 2, 1, 2]
    assert program.ends_after(9.5) == ["process_ended", "supervisor_gave_up"]


def test_one_that_is_never_to_be_started_again_is_not_given_up(tmp_path: Path) -> None:
    guardian, view = FileGuardian(tmp_path), SparkView(ProgramState())
    policy = SupervisorPolicy(attempts=0)
    supervisor = Supervisor(cast(Guardian, guardian), view, logs=tmp_path, policy=policy, restart="never")
    supervisor.start(Launch(("python",), {}))
    guardian.started[0].exit_code = 1
    assert [event.event for event in supervisor.poll()] == ["process_ended"]
    assert (supervisor.is_over, supervisor.gave_up) == (True, False)


@pytest.mark.parametrize(
    ("policy", "row", "expected"),
    [
        pytest.param({"backoff": 10}, 5000, timedelta(days=1), id="beyond any time"),
        pytest.param({"delay": "0s", "backoff": 10}, 5000, timedelta(0), id="no delay"),
        pytest.param({"backoff": 2, "max_delay": "5s"}, 2, timedelta(seconds=4), id="below the longest"),
        pytest.param({"backoff": 2, "max_delay": "5s"}, 3, timedelta(seconds=5), id="the longest"),
        pytest.param({"backoff": 2, "max_delay": "5s"}, 5000, timedelta(seconds=5), id="the longest, for good"),
    ],
)
def test_a_delay_grows_to_the_longest(policy: dict[str, Any], row: int, expected: timedelta) -> None:
    assert SupervisorPolicy.model_validate(policy).delay_after(row, Random(1)) == expected


def test_jitter_stays_within_its_share_and_the_longest_delay() -> None:
    policy = SupervisorPolicy.model_validate({"delay": "10s", "max_delay": "11s", "jitter": "20%"})
    delays = [policy.delay_after(0, Random(seed)).total_seconds() for seed in range(200)]
    assert 8 <= min(delays) < 8.5
    assert max(delays) == 11
    assert len(set(delays)) > 50


@pytest.mark.parametrize(
    ("seed", "name", "is_same"),
    [(7, "pipeline", True), (8, "pipeline", False), (7, "reader", False)],
    ids=["same run", "other seed", "other program"],
)
def test_jitter_repeats_with_the_seed(crashing: Make, seed: int, name: str, is_same: bool) -> None:
    policy = SupervisorPolicy.model_validate({"delay": "10m", "jitter": "50%"})

    def delays(**settings: Any) -> list[float]:
        program = crashing(policy, **settings)
        return [program.ends_after(1) and program.delay() for _ in range(3)]

    assert (delays(seed=7, name="pipeline") == delays(seed=seed, name=name)) is is_same


def test_an_arm_changes_what_it_writes_and_nothing_else() -> None:
    shared = SupervisorPolicy(delay=timedelta(seconds=3), attempts=5)
    assert shared.changed_by(SupervisorPolicy(attempts=2)) == SupervisorPolicy(delay=timedelta(seconds=3), attempts=2)
    assert shared.changed_by(None) == shared


@pytest.mark.parametrize("log_lines", [({"event": "failed", "error": "two metrics of one name", "refused": True},), ()])
def test_a_start_that_may_be_refused_is_an_outcome_with_its_reason(
    tmp_path: Path, log_lines: tuple[dict[str, Any], ...]
) -> None:
    guardian, view = FileGuardian(tmp_path), SparkView(ProgramState())
    supervisor = Supervisor(
        cast(Guardian, guardian), view, logs=tmp_path, policy=SupervisorPolicy(), may_refuse=True, clock=Clock()
    )
    supervisor.start(Launch(("python",), {}))
    guardian.started[0].says(*log_lines)
    guardian.started[0].exit_code = 2
    reason = "two metrics of one name" if log_lines else "error: no such topic"
    ended = [ProcessEnded(process=1, exit_code=2), StartRefused(reason=reason)]
    assert list(supervisor.poll())[len(log_lines) :] == ended
    assert (supervisor.refusal, supervisor.is_over, supervisor.gave_up, supervisor.ended_with) == (
        reason,
        True,
        False,
        2,
    )
    assert list(supervisor.poll()) == []


def test_where_it_may_never_run_an_end_before_it_began_is_an_outcome(tmp_path: Path) -> None:
    guardian, clock = FileGuardian(tmp_path), Clock()
    supervisor = Supervisor(
        cast(Guardian, guardian),
        SparkView(ProgramState()),
        logs=tmp_path,
        policy=SupervisorPolicy(attempts=0),
        may_never_run=True,
        clock=clock,
    )
    supervisor.start(Launch(("mine",), {}))
    guardian.started[0].exit_code = 1
    assert [event.event for event in supervisor.poll()] == ["process_ended", "supervisor_gave_up"]
    assert supervisor.gave_up
