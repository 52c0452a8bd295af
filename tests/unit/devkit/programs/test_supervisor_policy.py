"""When a supervisor starts again and gives up, against a guardian made of files, and which batches were repeated."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from devkit.observe.checkpoint import OffsetRange
from devkit.observe.timeline.kit_events import ProcessEnded, StartRefused, SupervisorGaveUp
from devkit.programs.batches import PlannedBatches
from devkit.programs.launch import NOTHING, Launch
from devkit.programs.supervisor_policy import SupervisorPolicy
from tests.unit.devkit.programs.bench import Bench

Make = Callable[..., Bench]


@pytest.fixture
def crashing(tmp_path: Path) -> Make:
    """A program that is started and ends again."""
    return lambda policy, **settings: Bench(tmp_path, policy=policy, **settings).start()


def test_it_gives_up_at_the_end_after_its_last_attempt(crashing: Make) -> None:
    program = crashing(SupervisorPolicy(attempts=2))
    for _ in range(2):
        assert program.end_after(1) == ["process_ended"]
        program.delay()
    assert program.end_after(1) == ["process_ended", "supervisor_gave_up"]
    supervisor = program.supervisor
    assert (supervisor.gave_up, supervisor.is_over, supervisor.ended_with, supervisor.restarts) == (True, True, 1, 2)
    assert list(supervisor.poll()) == []


def test_it_says_how_many_restarts_were_in_vain(crashing: Make) -> None:
    program = crashing(SupervisorPolicy(attempts=1))
    program.end_after(1)
    program.delay()
    program.started[-1].says({"event": "started"})
    assert program.end()[-1] == SupervisorGaveUp(restarts=1, after="1 restart in a row", exit_code=1)
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
        assert program.end_after(ran) == ["process_ended"]
        program.delay()
    assert program.end_after(runs[-1]) == ["process_ended", *(["supervisor_gave_up"] if after else [])]
    assert program.supervisor.gave_up_after == after


def test_a_start_by_an_operator_forgets_the_restarts_before_it(crashing: Make) -> None:
    program = crashing(SupervisorPolicy.model_validate({"attempts": 1, "within": "1h"}))
    program.end_after(1)
    program.delay()
    assert program.end_after(1)[-1] == "supervisor_gave_up"
    program.supervisor.start_again(Launch(("python",), {}), NOTHING)
    assert (program.supervisor.gave_up, program.supervisor.gave_up_after) == (False, "")
    assert program.end_after(1) == ["process_ended"]


def test_without_a_number_of_attempts_it_never_gives_up(crashing: Make) -> None:
    program = crashing(SupervisorPolicy())
    for _ in range(20):
        assert program.end_after(1) == ["process_ended"]
        program.delay()
    assert not program.supervisor.gave_up


def test_the_delay_grows_by_the_backoff(crashing: Make) -> None:
    program = crashing(SupervisorPolicy(delay=timedelta(seconds=1), backoff=3))
    delays = []
    for _ in range(3):
        program.end_after(1)
        delays.append(program.delay())
    assert delays == [1, 3, 9]


def test_a_process_that_ran_long_enough_begins_a_new_row(crashing: Make) -> None:
    policy = SupervisorPolicy(delay=timedelta(seconds=1), backoff=2, attempts=2, reset_after=timedelta(seconds=10))
    program = crashing(policy)
    delays = []
    for ran in (1, 1, 10, 1):
        assert program.end_after(ran) == ["process_ended"]
        delays.append(program.delay())
    assert delays == [1, 2, 1, 2]
    assert program.end_after(9.5) == ["process_ended", "supervisor_gave_up"]


@pytest.mark.parametrize(("settings", "gives_up"), [({"restart": "never"}, False), ({"may_never_run": True}, True)])
def test_an_end_before_it_began_is_an_outcome(crashing: Make, settings: dict[str, Any], gives_up: bool) -> None:
    """One that is never to be started again is not given up."""
    program = crashing(SupervisorPolicy(attempts=0), **settings)
    events = ["process_ended", *(["supervisor_gave_up"] if gives_up else [])]
    assert [event.event for event in program.end()] == events
    assert (program.supervisor.is_over, program.supervisor.gave_up) == (True, gives_up)


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
        return [program.end_after(1) and program.delay() for _ in range(3)]

    assert (delays(seed=7, name="pipeline") == delays(seed=seed, name=name)) is is_same


def test_an_arm_changes_what_it_writes_and_nothing_else() -> None:
    shared = SupervisorPolicy(delay=timedelta(seconds=3), attempts=5)
    assert shared.changed_by(SupervisorPolicy(attempts=2)) == SupervisorPolicy(delay=timedelta(seconds=3), attempts=2)
    assert shared.changed_by(None) == shared


@pytest.mark.parametrize("log_lines", [({"event": "failed", "error": "two metrics of one name", "refused": True},), ()])
def test_a_start_that_may_be_refused_is_an_outcome_with_its_reason(
    crashing: Make, log_lines: tuple[dict[str, Any], ...]
) -> None:
    program = crashing(SupervisorPolicy(), may_refuse=True)
    program.started[0].says(*log_lines)
    reason = "two metrics of one name" if log_lines else "error: no such topic"
    ended = [ProcessEnded(process=1, exit_code=2), StartRefused(reason=reason)]
    assert program.end(2)[len(log_lines) :] == ended
    supervisor = program.supervisor
    outcome = (supervisor.refusal, supervisor.is_over, supervisor.gave_up, supervisor.ended_with)
    assert outcome == (reason, True, False, 2)
    assert program.poll() == []


def range_of(batch: int) -> OffsetRange:
    """Batch N takes N + 1 offsets of each of two partitions."""
    return OffsetRange({("t", 0): 10, ("t", 1): 5}, {("t", 0): 11 + batch, ("t", 1): 6 + batch})


def fed(*numbers: int) -> PlannedBatches:
    batches = PlannedBatches()
    for number in numbers:
        batches.begin(number)
    return batches


def test_says_which_beginning_is_a_repetition() -> None:
    batches = PlannedBatches()
    assert [batches.begin(number) for number in (0, 1, 1, 2, 1)] == [False, False, True, False, True]


def test_only_repeated_batches_are_looked_up() -> None:
    """The first offset file of a batch may be gone by the end of an arm."""
    asked: list[int] = []

    def remember(batch: int) -> OffsetRange:
        asked.append(batch)
        return range_of(batch)

    fed(0, 1, 2, 2).replayed_offsets(remember)
    assert asked == [2]


@given(st.lists(st.integers(0, 5)))
@example([0, 1, 1, 2, 2, 2])
def test_each_repetition_counts_in_any_order(numbers: list[int]) -> None:
    batches, counts = fed(*numbers), Counter(numbers)
    assert batches.replays == max(counts.values(), default=1) - 1
    again = [range_of(batch) for batch, count in sorted(counts.items()) for _ in range(count - 1)]
    assert batches.replayed_offsets(range_of) == sum(batch.size for batch in again)
    assert sorted(batches.replayed_ranges(range_of), key=str) == sorted(again, key=str)


def test_the_numbers_of_another_checkpoint_are_no_repetitions() -> None:
    batches = fed(0, 1, 1)
    batches.begin_anew()
    assert [batches.begin(number) for number in (0, 1, 1)] == [False, False, True]
    assert (batches.any_begun, batches.replays) == (True, 1)
    assert batches.replayed_ranges(range_of) == (range_of(1),)
