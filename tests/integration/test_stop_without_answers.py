"""A stop while something does not answer: the brokers, or the JVM of Spark itself.

Set-up: real broker, Spark and mock, and a job that has committed all there is. Checked: exit code, what is said, and
that nothing of the job is left.
"""

from collections.abc import Callable

import psutil
import pytest

from tests.integration.crash.bench import Bench, Run
from tests.integration.test_graceful_stop import TRAFFIC, assert_nothing_is_left

ROOMS = ("pipeline/driver",)
MakeBench = Callable[..., Bench]

pytestmark = pytest.mark.slow


def jvm_of(run: Run) -> psutil.Process:
    (found,) = [one for one in run.tree() if one.ppid() == run.process.pid and "java" in one.name()]
    return found


def test_while_the_brokers_are_gone_there_is_no_batch_to_wait_for(make_bench: MakeBench) -> None:
    """Spark asks them where the source ends, and the slow lane for operators' commands; both would take a minute."""
    # Spark says so soon: after a minute the slow lane would have failed, and with it the job.
    settings = {"kafka": {"properties": {"request.timeout.ms": 5000}}}
    bench = make_bench(traffic=TRAFFIC, rules=[], settings=settings)
    broker = bench.stack.part("kafka")
    bench.publish(wait=True)
    run = bench.start(own_jvm=True)
    bench.await_drained(run)
    broker.pull("pause")
    try:
        # The first of both that is not answered.
        run.await_condition(lambda: "isconnect" in run.process.stderr.read_text(), "Spark to miss the broker")
        code = run.terminate()
    finally:
        broker.pull("resume")
    assert code == 0, run.process.last_words(20)
    assert run.logged("stopped", rounds_given_up=0)
    assert_nothing_is_left(run)
    again = bench.start()
    again.await_line("started")
    assert again.terminate() == 0
    bench.assert_clean(restarted=False)


def test_a_stop_ends_in_its_time_though_the_jvm_stands_still(make_bench: MakeBench) -> None:
    settings = {"deferral": {"inline_allowance": "1s"}, "stop_timeout": "11s"}
    bench = make_bench(traffic=TRAFFIC, rules=[], settings=settings)
    bench.publish(wait=True)
    run = bench.start(own_jvm=True)
    bench.await_drained(run)
    jvm_of(run).suspend()
    assert run.terminate() == 3
    (failed,) = run.logged("failed")
    assert failed["error"] == "stopped while Spark does not answer, as stop_timeout 11 s is over"
    assert_nothing_is_left(run)


def test_a_jvm_that_stands_still_is_a_failure_that_a_supervisor_sees(make_bench: MakeBench) -> None:
    settings = {"stall_timeout": "20s", "deferral": {"inline_allowance": "1s"}}
    bench = make_bench(traffic=TRAFFIC, rules=[], settings=settings)
    bench.publish(wait=True)
    run = bench.start(own_jvm=True)
    bench.await_drained(run)
    jvm_of(run).suspend()
    assert run.await_end() == 1
    (failed,) = run.logged("failed")
    assert failed["error"] == "the JVM of Spark has not answered for 20 s"
    assert_nothing_is_left(run)
