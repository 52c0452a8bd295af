"""Back-pressure of the sink does not stop the clock of fetches that are under way.

Set-up: one page that takes minutes, first in a batch of many large ones, and small buffers everywhere. The broker's
process is stopped while the slow page is being fetched, so results pile up until nothing more is fetched. Checked,
while the broker is still stopped: the client gave the slow page up. Then the broker goes on, and all arrives.
"""

from collections.abc import Callable
from typing import Any

from tests.integration.crash.bench import Bench

ROOMS = ("pipeline/fetch", "pipeline/kafka", "pipeline/worker")
MakeBench = Callable[..., Bench]

TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 5,
    "rate": "1000/s",
    "for": "100ms",
    "population": 30,
    "pages": {"Slow": {"edits": 1, "at": [0.0]}},
}
RULES: list[dict[str, Any]] = [
    {"name": "large", "do": {"body": {"size": "400KiB", "encoding": "identity"}}},
    {"name": "slow", "when": {"page": "Slow"}, "do": {"latency": "10m"}},
]
SETTINGS: dict[str, Any] = {
    "fetch": {"concurrency": 8},
    "batch": {"max_offsets": 500},
    "result_buffer": "1MiB",
    "deferral": {"inline_allowance": "8s", "slow_lane": {"deadline": "60s", "attempts": 20, "backoff": "1s"}},
}
# The producer would take 32 MiB before it pushes back.
CONSTANTS = {"pipeline.kafka.sink:_MIN_PRODUCER_BUFFER": 1024 * 1024}


def test_deadlines_fire_while_results_wait_for_the_sink(make_bench: MakeBench) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=SETTINGS)
    broker = bench.stack.part("kafka")
    bench.publish(wait=True)
    run = bench.start(constants=CONSTANTS)
    run.await_condition(lambda: bench.in_flight("slow"), "the slow page to be fetched")
    broker.pull("pause")
    try:
        given_up = run.await_condition(lambda: bench.entries("slow"), "the slow page to be given up")
        run.await_condition(lambda: not bench.in_flight("large"), "no fetch to be under way")
        fetched_meanwhile = bench.fetches()
        assert not run.logged("batch_written")
    finally:
        broker.pull("resume")
    # Nobody else ended these: the mock was to answer much later.
    assert {(request["completed"], request["status"]) for request in given_up} == {(False, None)}
    bench.remove_rule("slow")
    bench.await_drained(run)
    bench.end()
    # The rest had not been fetched before, and nothing but the sink stood in its way.
    assert bench.fetches() > fetched_meanwhile + SETTINGS["fetch"]["concurrency"]
    assert bench.assert_clean(restarted=False).duplicated == 0
