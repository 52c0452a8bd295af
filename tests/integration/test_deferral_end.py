"""How a pipeline with slow pages ends: at once and with its cause, whatever is still under way.

Set-up: pages that take ten minutes, so whoever waits for one waits in vain.
"""

from collections.abc import Callable
from typing import Any

import pytest

from devkit.waiting import wait_until
from tests.integration.crash.bench import DEADLINE, Bench, Run

ROOMS = ("pipeline/deferral", "pipeline/driver")
MakeBench = Callable[..., Bench]

TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 3,
    "rate": "200/s",
    "for": "100ms",
    "population": 5,
    "pages": {"Slow": {"edits": 1}, "Slower": {"edits": 1}},
}
RULES = [{"name": f"slow: {page}", "when": {"page": page}, "do": {"latency": "10m"}} for page in ("Slow", "Slower")]
SETTINGS: dict[str, Any] = {
    "deferral": {"inline_allowance": "1s", "slow_lane": {"deadline": "10m", "rounds": 2, "pages": 1}},
    "stop_timeout": "11s",
}


def assert_nothing_is_left(run: Run) -> None:
    """It went by itself: nobody has killed anything."""
    wait_until(lambda: not run.tree(), what="all processes of the job to end", deadline=DEADLINE)


# That the process ends and says so is in the verdict on the stalled job, too.
@pytest.mark.slow
def test_a_batch_that_does_not_commit_ends_the_process(make_bench: MakeBench) -> None:
    """The incident's way: mini-batches that wait for their slowest, and nothing is deferred."""
    settings = {
        "batch": {"isolation": "mini_batch", "mini_batch": 4},
        "fetch": {"deadline": "10m", "request_timeout": "10m"},
        "deferral": {"policy": "none"},
        "stall_timeout": "5s",
    }
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=settings)
    bench.publish(wait=True)
    run = bench.start("--allow-unsafe", own_jvm=True)
    assert run.await_end() == 1
    (failed,) = run.logged("failed")
    assert failed["error"] == "no commit within 5 s: batch 0 is still at work"
    assert "no commit within 5 s" in run.process.last_words()
    assert_nothing_is_left(run)
    assert bench.committed() == {}


@pytest.mark.slow
def test_a_round_that_fails_ends_the_process(make_bench: MakeBench) -> None:
    """Set-up: two rounds under way. One loses its Python worker; the process does not wait for the other."""
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=SETTINGS)
    bench.publish(wait=True)
    run = bench.start(own_jvm=True)
    run.await_condition(lambda: two_rounds(bench), "two rounds to be at work")
    run.workers()[0].kill()
    assert run.await_end() == 1
    assert run.logged("failed")[0]["error"].startswith("slow lane failed: ")
    assert "Python worker exited unexpectedly" in run.logged("failed")[0]["error"]
    assert_nothing_is_left(run)


@pytest.mark.slow
def test_a_stop_waits_for_a_round_no_longer_than_its_time(make_bench: MakeBench) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=SETTINGS)
    bench.publish(wait=True)
    run = bench.start(own_jvm=True)
    run.await_condition(lambda: two_rounds(bench), "two rounds to be at work")
    assert run.terminate() == 0
    (stopped,) = run.logged("stopped")
    assert stopped["rounds_given_up"] == 2
    assert_nothing_is_left(run)
    assert bench.deferred() == 2


@pytest.mark.slow
def test_of_two_drivers_the_older_one_ends(make_bench: MakeBench) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=SETTINGS)
    bench.publish(wait=True)
    older = bench.start()
    older.await_condition(lambda: two_rounds(bench), "two rounds to be at work")
    newer = bench.start(beside=True)
    assert older.await_end() == 2
    error = older.logged("failed")[0]["error"]
    assert (
        "a driver of epoch 2 has started, and this one is of epoch 1" in error or "another start of this job" in error
    )
    for rule in RULES:
        bench.remove_rule(str(rule["name"]))
    bench.await_drained(newer)
    bench.end()
    bench.assert_clean(restarted=True)


def two_rounds(bench: Bench) -> bool:
    """Both pages are fetched for longer than a batch would."""
    return len({request["page"] for request in bench.in_flight("slow") if request["waited_s"] > 2}) == 2
