"""A stop of a job that spark-submit has started: the signal goes to the JVM, and Python is its child.

Set-up: real broker, Spark, mock and `spark-submit`, as a container's entry point runs it; pages that take their time.
Checked: exit code of spark-submit, what has left when it has ended, and after another run that every event has left
once and in its page's order.
"""

import signal
from collections.abc import Callable

import psutil
import pytest

from tests.integration.crash.bench import Bench, Run
from tests.integration.test_graceful_stop import (
    SLOW,
    TEN_MINUTES,
    TRAFFIC,
    UNEVEN,
    assert_nothing_is_left,
    assert_what_left_is_what_is_committed,
)

ROOMS = ("pipeline/driver",)
MakeBench = Callable[..., Bench]

pytestmark = pytest.mark.slow


def python_of(run: Run) -> psutil.Process:
    """The job's own process, the child of the JVM that has the test's signals."""
    (found,) = [one for one in run.tree() if one.ppid() == run.process.pid and "run" in one.cmdline()]
    return found


def test_the_batch_at_work_is_finished_and_nothing_is_repeated(make_bench: MakeBench) -> None:
    settings = {"batch": {"max_offsets": 50}, "fetch": {"concurrency": 16}}
    bench = make_bench(traffic=TRAFFIC, rules=UNEVEN, settings=settings)
    bench.publish(wait=True)
    run = bench.start(submitted=True)
    run.await_line("batch_started", batch=0)
    run.await_condition(lambda: bench.in_flight("uneven"), "requests to be under way")
    assert "java" in psutil.Process(run.process.pid).name(), "spark-submit's scripts are the JVM by now"
    assert run.terminate() == 0, run.process.last_words(20)
    assert run.logged("stopping")[0]["batch"] == 0
    assert run.logged("stopped")
    assert_nothing_is_left(run)
    assert sum(bench.committed().values()) == 50, "the batch at work is committed"
    assert_what_left_is_what_is_committed(bench)
    # Ctrl-C, or a supervisor that signals a whole group: the JVM passes on what its child has got already.
    again = bench.start(submitted=True)
    again.await_line("batch_started", batch=1)
    again.await_condition(lambda: bench.in_flight("uneven"), "requests to be under way")
    child = python_of(again)
    again.process.signal(signal.SIGINT)
    child.send_signal(signal.SIGINT)
    assert again.await_end() == 0, again.process.last_words(20)
    assert sum(bench.committed().values()) == 100
    assert_what_left_is_what_is_committed(bench)
    last = bench.start(submitted=True)
    bench.await_drained(last)
    assert last.terminate() == 0
    bench.assert_clean(restarted=False)


def test_a_second_signal_ends_spark_submit_in_the_middle_of_a_batch(make_bench: MakeBench) -> None:
    settings = {
        "deferral": {"policy": "none"},
        "fetch": {"deadline": "5m", "request_timeout": "5m"},
        "stop_timeout": "5m",
    }
    bench = make_bench(traffic=SLOW, rules=TEN_MINUTES, settings=settings)
    bench.publish(wait=True)
    run = bench.start("--allow-unsafe", submitted=True)
    run.await_condition(lambda: bench.in_flight("slow"), "the slow page to be asked for")
    run.process.signal(signal.SIGTERM)
    run.await_line("stopping")
    run.process.signal(signal.SIGTERM)
    assert run.await_end() == 3
    (failed,) = run.logged("failed")
    assert failed["error"] == "stopped with batch 0 at work, as a second signal came"
    assert_nothing_is_left(run)
    assert bench.committed() == {}


def test_a_signal_before_the_query_runs_ends_spark_submit_at_once(make_bench: MakeBench) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings={})
    bench.publish(wait=True)
    run = bench.start(submitted=True)
    run.await_line("configuration")
    assert run.terminate() == 0, run.process.last_words(20)
    assert run.logged("stopped", seconds=0)
    assert_nothing_is_left(run)
    assert bench.committed() == {}
