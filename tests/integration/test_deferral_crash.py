"""Crashes at the worst moments, each followed by a restart from the checkpoint: nothing is lost, order holds.

Set-up: traffic that goes on all the time, of few pages with several edits each; two are slower than the inline
allowance, one answers 504 for a while. So there are stuck events, events that wait for them, and batches that take
waiting ones along. Checked: the process died where it should; when the next ones have drained, the audit finds nothing
lost, doubled with other bytes, or out of order, and the ledger is empty.
"""

import signal
from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.crash.bench import Bench, Run
from tests.integration.crash.point import CrashPoint

ROOMS = ("pipeline/deferral",)
MakeBench = Callable[..., Bench]
Crash = Callable[[Bench, Run], int]

# Named pages come first, so these are their ids; a page's first edit is the only one with this parent.
ONCE, AGAIN = 1, 2
TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 11,
    "rate": "4/s",
    "for": "14s",
    "population": 5,
    "pages": {
        "Once": {"edits": 10},
        "Again": {"edits": 8},
        "Slow": {"edits": 3},
        "Ill": {"edits": 4},
        "Quick": {"edits": 5},
    },
}
RULES: list[dict[str, Any]] = [
    {"name": "slow once", "when": {"revision": ONCE * 4096 + 2}, "do": {"latency": "4s"}},
    {"name": "slow again", "when": {"revision": AGAIN * 4096 + 4}, "do": {"latency": "4s"}},
    {"name": "slow page", "when": {"page": "Slow"}, "do": {"latency": "4s"}},
    {"name": "ill", "when": {"page": "Ill", "window": {"for": "12s"}}, "do": {"status": 504}},
]
SETTINGS: dict[str, Any] = {
    "batch": {"max_offsets": 8, "trigger": "600ms"},
    "deferral": {
        "inline_allowance": "1500ms",
        "slow_lane": {"deadline": "30s", "attempts": 20, "backoff": "500ms", "rounds": 2},
    },
}
READ, RESOLVE = "pipeline.deferral.ledger_log:LedgerLog.read", "pipeline.deferral.ledger_log:LedgerLog.resolve"
PUT, ROUND_DONE = "pipeline.deferral.ledger_log:LedgerLog.put", "pipeline.deferral.ledger:Ledger.round_done"
WRITE = "pipeline.deferral.topic:LedgerTopic.write"
POINTS = {
    "batch written, ledger not read": CrashPoint(target=READ, moment="before", within="written", call=2),
    "batch written, claims not resolved": CrashPoint(target=RESOLVE, moment="before", within="written", nonempty=True),
    "claims resolved, batch not committed": CrashPoint(target=RESOLVE, moment="after", within="written", nonempty=True),
    "round resolved, driver not told": CrashPoint(target=ROUND_DONE, moment="before", within="_work"),
    "round resolved, entries written again": CrashPoint(target=PUT, moment="after", within="_work", nonempty=True),
}
TAKING_OVER = "epoch begun, ledger not folded"
AT_START = {TAKING_OVER: CrashPoint(target=WRITE, moment="after", within="_taken_over")}


def in_a_batch(bench: Bench, run: Run) -> int:
    """SIGKILL for the driver, while a fetch of a batch that is at work has long to go."""
    run.await_condition(lambda: fetching(bench, 0, 0.7) and at_work(run), "a batch to wait for a slow page")
    run.process.signal(signal.SIGKILL)
    return -signal.SIGKILL


def worker_in_a_batch(bench: Bench, run: Run) -> int:
    """SIGKILL for the Python workers: the query fails, and the process with it."""
    run.await_condition(lambda: fetching(bench, 0, 0.7) and at_work(run), "a batch to wait for a slow page")
    for worker in run.workers():
        worker.kill()
    return 1


def in_a_round(bench: Bench, run: Run) -> int:
    """SIGKILL for the driver, while a slow page is fetched for longer than a batch would."""
    run.await_condition(lambda: fetching(bench, 1.8, 3.5), "a slow round to be at work")
    run.process.signal(signal.SIGKILL)
    return -signal.SIGKILL


def worker_in_a_round(bench: Bench, run: Run) -> int:
    """SIGKILL for the Python workers, which write what a round emits: the process ends with them."""
    run.await_condition(lambda: fetching(bench, 1.8, 3.5), "a slow round to be at work")
    for worker in run.workers():
        worker.kill()
    return 1


OUTSIDE: dict[str, Crash] = {
    "driver in a batch": in_a_batch,
    "worker in a batch": worker_in_a_batch,
    "driver in a round": in_a_round,
    "worker in a round": worker_in_a_round,
}


def fetching(bench: Bench, at_least_s: float, below_s: float) -> bool:
    return any(at_least_s <= request["waited_s"] < below_s for request in bench.in_flight("slow"))


def at_work(run: Run) -> bool:
    return len(run.logged("batch_started")) > len(run.logged("batch_written"))


def crash(bench: Bench, where: str) -> None:
    """Start a process, and have it die there."""
    points = POINTS | AT_START
    run = bench.start(crash=points.get(where), own_jvm=where in OUTSIDE)
    expected = OUTSIDE[where](bench, run) if where in OUTSIDE else -signal.SIGKILL
    assert run.await_end() == expected
    assert bool(run.logged("crashing")) == (where in points)
    if where == "worker in a batch":
        # Which of both Spark says depends on what it waits for at that moment.
        said = "Python worker exited unexpectedly", "Unexpected end of input trying to read batch"
        assert any(words in run.logged("failed")[0]["error"] for words in said)


@pytest.mark.parametrize(
    "crashes",
    [
        ["worker in a batch", "claims resolved, batch not committed", "round resolved, driver not told"],
        *(pytest.param([where], marks=pytest.mark.slow) for where in (*OUTSIDE, *POINTS)),
        # Of a first start nothing is there to go on from; so this is for one that takes a ledger over.
        pytest.param(["round resolved, driver not told", TAKING_OVER], marks=pytest.mark.slow),
        pytest.param(["driver in a batch", "driver in a batch", "driver in a round"], marks=pytest.mark.slow),
    ],
    ids=", then ".join,
)
def test_a_crash_loses_nothing_and_keeps_the_order(make_bench: MakeBench, crashes: list[str]) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=SETTINGS)
    bench.publish()
    for where in crashes:
        crash(bench, where)
    run = bench.start()
    bench.await_drained(run)
    bench.end()
    bench.assert_clean(restarted=True)
