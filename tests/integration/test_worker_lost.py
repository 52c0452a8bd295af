"""A Spark cluster loses a worker in a batch: Spark runs the task again, and what the first attempt deferred is void.

Set-up: a batch of pages that hang, fetched one after the other. When the first is in the ledger's topic and the next is
being fetched, the worker dies with its executor, and nothing hangs any more. Checked: the batch ended by another
attempt, which emitted all and said which offsets it had read, of which the audit takes repeats, and of no others; what
the first had deferred left once, and the ledger has nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from devkit.guardian import Guardian
from devkit.observe.audit.replays import NO_REPLAYS
from devkit.stack.stack import Stack
from tests.integration.crash.bench import Bench
from tests.integration.spark_cluster import Cluster, spark_cluster

ROOMS = ("devkit/observe", "pipeline/deferral", "pipeline/worker")
pytestmark = pytest.mark.slow

PAGES = ("First", "Second", "Third", "Fourth", "Fifth")
# A Python worker keeps up to 64 KiB of its output back: only large records leave it while others are fetched.
PAGE = {"edits": 1, "event_bytes": 200 * 1024}
TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 7,
    "rate": "200/s",
    "for": "100ms",
    "population": 5,
    "pages": dict.fromkeys(PAGES, PAGE),
}
RULES: list[dict[str, Any]] = [
    {"name": f"slow: {page}", "when": {"page": page}, "do": {"latency": "10m"}} for page in PAGES
]
SETTINGS: dict[str, Any] = {
    "fetch": {"concurrency": 1},
    # Too few for the look at versions, whose Python may run on the other worker.
    "batch": {"max_offsets": 99},
    "deferral": {"inline_allowance": "10s", "slow_lane": {"deadline": "60s", "attempts": 20, "backoff": "60s"}},
}


@pytest.fixture
def cluster(stack: tuple[Guardian, Stack], tmp_path: Path) -> Iterator[Cluster]:
    with spark_cluster(stack[0], tmp_path) as made:
        yield made


def test_what_a_lost_attempt_deferred_does_not_count(make_bench: Callable[..., Bench], cluster: Cluster) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=SETTINGS, spark=cluster.settings())
    bench.publish(wait=True)
    run = bench.start()
    run.await_condition(
        lambda: bench.deferred_ever() and bench.in_flight("slow"), "a page to be deferred, and the next to be fetched"
    )
    lost = cluster.at_work()
    assert lost
    # In this order: the first attempt must not end before it is lost, and the next finds nothing that hangs.
    (held,) = bench.in_flight("slow")[0]["rules"]
    for name in (str(rule["name"]) for rule in RULES):
        if name != held:
            bench.remove_rule(name)
    lost.kill_tree()
    assert not run.logged("batch_written")
    bench.remove_rule(held)
    run.await_line("batch_written", batch=0)
    bench.await_drained(run)
    assert not run.logged("slow_round"), "what the lost attempt deferred was processed"
    run.terminate()
    (retried,) = run.logged("task_retried", batch=0)
    assert (retried["attempts"], retried["read"]) == (1, [[bench.config.source.topic, 0, 0, bench.source_end()]])
    times = Counter(arrival.source for arrival in bench.outputs())
    # The lost attempt had emitted what is quick, which is a repeat now.
    audit = bench.audit()
    assert audit.problems() == {}, audit.examples
    assert audit.duplicated == audit.excused == audit.excused_by_retry == sum(times.values()) - len(times)
    refused = bench.audit(NO_REPLAYS)
    assert refused.problems() == ({"duplicated": audit.duplicated} if audit.duplicated else {})
    assert bench.ever_deferred()
    assert {times[position] for position in bench.ever_deferred()} == {1}
