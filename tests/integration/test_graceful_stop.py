"""A stop in the middle of everything: what was begun is finished, and the restart repeats nothing.

Set-up: real broker, Spark and mock; pages that take their time. Checked: exit code, what has left when the process has
ended, and after a second run that every event has left once and in its page's order.
"""

import signal
from collections.abc import Callable
from typing import Any

import pytest

from devkit.waiting import wait_until
from tests.integration.crash.bench import DEADLINE, Bench, Run

ROOMS = ("pipeline/driver",)
MakeBench = Callable[..., Bench]

TRAFFIC: dict[str, Any] = {"generator": "page_change", "seed": 11, "rate": "400/s", "for": "500ms", "population": 60}
SLOW: dict[str, Any] = TRAFFIC | {"pages": {"Slow": {"edits": 1}}}
# Every request takes its time, so that a batch is at work for longer than a signal needs.
UNEVEN = [{"name": "uneven", "when": {}, "do": {"latency": {"p50": "300ms", "p99": "2s", "cap": "2s"}}}]
TEN_MINUTES = [{"name": "slow", "when": {"page": "Slow"}, "do": {"latency": "10m"}}]


def assert_what_left_is_what_is_committed(bench: Bench) -> None:
    """Nothing of a batch that was not committed, and all of each that was, but for filtered events."""
    committed = bench.committed()
    left = {record.source for record in (*bench.outputs(), *bench.errors())}
    assert committed
    assert left
    assert all(source is not None and source[2] < committed[source[1]] for source in left)


def test_the_batch_at_work_is_finished_and_none_follows(make_bench: MakeBench) -> None:
    settings = {"batch": {"max_offsets": 50}, "fetch": {"concurrency": 16}}
    bench = make_bench(traffic=TRAFFIC, rules=UNEVEN, settings=settings)
    bench.publish(wait=True)
    run = bench.start(own_jvm=True)
    run.await_line("batch_started", batch=1)
    run.await_condition(lambda: bench.in_flight("uneven"), "requests to be under way")
    assert run.terminate() == 0, run.process.last_words(20)
    assert run.logged("stopping")[0]["batch"] == 1
    assert len(run.logged("batch_written")) == 2, "the next batch has written nothing"
    assert run.logged("stopped")
    assert sum(bench.committed().values()) == 100, "the batch at work is committed"
    assert_what_left_is_what_is_committed(bench)
    assert "Exception" not in run.standard_error(), "a stop is no failure"
    again = bench.start()
    bench.await_drained(again)
    assert again.terminate() == 0
    bench.assert_clean(restarted=False)


@pytest.mark.slow
def test_a_page_that_takes_longer_is_in_the_ledger_when_the_process_has_ended(make_bench: MakeBench) -> None:
    # It rests for longer than the test, else its slow round would be waited for.
    deferral = {"inline_allowance": "2s", "slow_lane": {"backoff": "10m"}}
    settings = {"deferral": deferral, "stop_timeout": "60s"}
    bench = make_bench(traffic=SLOW, rules=TEN_MINUTES, settings=settings)
    bench.publish(wait=True)
    run = bench.start(own_jvm=True)
    run.await_line("batch_started", batch=0)
    assert run.terminate() == 0, run.process.last_words(20)
    (stopped,) = run.logged("stopped")
    assert stopped["seconds"] < 60, "the page was not waited for"
    assert bench.deferred() >= 1, "others may be slow, too, on a busy machine"
    assert bench.committed() == {0: bench.source_end()}
    left = {record.source for record in (*bench.outputs(), *bench.errors())}
    assert left, "the others were not held up"
    assert_nothing_is_left(run)


@pytest.mark.slow
@pytest.mark.parametrize("signals", [1, 2])
def test_when_the_time_is_over_the_process_says_so_and_the_batch_comes_again(
    make_bench: MakeBench, signals: int
) -> None:
    """Set-up: without deferral a record holds its batch for as long as its page takes."""
    settings = {
        "deferral": {"policy": "none"},
        "fetch": {"deadline": "5m", "request_timeout": "5m"},
        "stop_timeout": "3s" if signals == 1 else "5m",
    }
    bench = make_bench(traffic=SLOW, rules=TEN_MINUTES, settings=settings)
    bench.publish(wait=True)
    run = bench.start("--allow-unsafe", own_jvm=True)
    run.await_condition(lambda: bench.in_flight("slow"), "the slow page to be asked for")
    run.process.signal(signal.SIGTERM)
    run.await_line("stopping")
    if signals == 2:
        run.process.signal(signal.SIGTERM)
    assert run.await_end() == 3
    (failed,) = run.logged("failed")
    why = "stop_timeout 3 s is over" if signals == 1 else "a second signal came"
    assert failed["error"] == f"stopped with batch 0 at work, as {why}"
    assert_nothing_is_left(run)
    assert bench.committed() == {}
    bench.remove_rule("slow")
    again = bench.start("--allow-unsafe")
    bench.await_drained(again)
    assert again.terminate() == 0
    bench.assert_clean(restarted=True)


@pytest.mark.slow
def test_a_signal_while_the_jvm_begins_leaves_none_behind(make_bench: MakeBench) -> None:
    """Set-up: a JVM that has not said yet where it listens. One that was forgotten then would stay for ever."""
    bench = make_bench(traffic=TRAFFIC, rules=[], settings={})
    run = bench.start(own_jvm=True)
    run.await_condition(lambda: any("java" in one.name() for one in run.tree()), "the JVM to begin")
    assert run.terminate() == 0, run.process.last_words(20)
    assert run.logged("stopped", seconds=0)
    assert_nothing_is_left(run)


def assert_nothing_is_left(run: Run) -> None:
    wait_until(lambda: not run.tree(), what="all processes of the job to end", deadline=DEADLINE)
