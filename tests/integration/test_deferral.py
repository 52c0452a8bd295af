"""Deferral with real parts: nobody waits for a slow page but its own later events, and those leave in their order.

Set-up: a backlog of events of few pages with several edits each; two pages are slower than the inline allowance, one
answers 504 until it has been tried twice.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.crash.bench import Bench

ROOMS = ("pipeline/deferral",)
MakeBench = Callable[..., Bench]

TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 7,
    "rate": "400/s",
    "for": "100ms",
    "population": 5,
    "pages": {"Slow": {"edits": 6}, "Slower": {"edits": 4}, "Ill": {"edits": 6}, "Quick": {"edits": 6}},
}
RULES: list[dict[str, Any]] = [
    {"name": "slow", "when": {"page": "Slow"}, "do": {"latency": "2s"}},
    {"name": "slower", "when": {"page": "Slower"}, "do": {"latency": "3s"}},
    {"name": "ill", "when": {"page": "Ill"}, "do": {"status": 504}},
]
SETTINGS: dict[str, Any] = {
    "batch": {"max_offsets": 12},
    "deferral": {"inline_allowance": "1s", "slow_lane": {"deadline": "30s", "attempts": 20, "backoff": "1s"}},
}


# Order is what the crashes try as well, and no repeat without one is in the verdict on the stalled job's fix.
@pytest.mark.slow
def test_slow_pages_are_put_aside_and_leave_later_in_their_order(make_bench: MakeBench) -> None:
    """Checked: healthy pages commit while others stand in the ledger; then the audit is clean, without a repeat."""
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=SETTINGS)
    bench.publish(wait=True)
    run = bench.start()
    run.await_condition(
        lambda: sum(bench.committed().values()) == bench.source_end() and bench.deferred() > 0,
        "all batches to commit while events are deferred",
    )
    run.await_condition(lambda: len(bench.entries("ill")) >= 4, "the ill page to be tried twice")
    bench.remove_rule("ill")
    bench.await_drained(run)
    assert len(run.logged("slow_round")) >= 3
    bench.end()
    audit = bench.assert_clean(restarted=False)
    assert audit.duplicated == 0
    assert bench.deferred_ever() >= 6 + 4 + 6


def test_above_the_bound_the_main_lane_waits_and_a_replayed_batch_does_too(make_bench: MakeBench) -> None:
    """Set-up: slow pages that nobody can fetch until the test says so, and room for few entries.

    Steps: the ledger fills, the job waits and is stopped; the next process waits with the batch that was planned, for
    entries of earlier batches can leave before it, and goes on when there is room. Checked: no batch is begun in the
    wait of either process, and the lag stays in the source.
    """
    slow_lane = SETTINGS["deferral"]["slow_lane"] | {"deadline": "10s"}
    deferral = {"max_entries": 4, "inline_allowance": "500ms", "slow_lane": slow_lane}
    rules = [{"name": name, "when": {"page": name.title()}, "do": {"latency": "10m"}} for name in ("slow", "slower")]
    bench = make_bench(traffic=TRAFFIC, rules=rules, settings=SETTINGS | {"deferral": deferral})
    bench.publish(wait=True)
    run = bench.start()
    planned = int(run.await_line("waiting")["batch"])
    run.await_condition(
        lambda: [request for request in bench.in_flight("slow") if request["waited_s"] > 2],
        "a slow round to be at work",
    )
    assert [line["batch"] for line in run.logged("batch_started")] == list(range(planned))
    assert sum(bench.committed().values()) < bench.source_end()
    assert bench.deferred() > 4
    # It waits in the middle of Spark's planning, with a round under way: it ends all the same, and in order.
    assert run.terminate() == 0
    assert run.logged("stopped")

    run = bench.start()
    assert int(run.await_line("waiting")["batch"]) == planned
    assert run.logged("batch_started") == []
    bench.remove_rule("slow")
    bench.remove_rule("slower")
    run.await_line("resumed", batch=planned)
    bench.await_drained(run)
    bench.end()
    bench.assert_clean(restarted=True)
