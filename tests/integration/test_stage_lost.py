"""A Spark cluster loses a worker with rows of a batch that were on their way to another task: the batch is a crash.

Set-up: events of one page. The first ends in an error event, so the rest of its batch waits for the next one, which
takes them from the ledger: its rows are shuffled. While an event of it is fetched, the worker that fetches it dies,
with its executor and what that had shuffled. To go on, Spark would have to run a stage again, whose tasks are first
attempts. Checked: the process ends instead, and says so; the next one repeats the batch, and the audit takes that for
a restart.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from devkit.guardian import Guardian, ManagedProcess
from devkit.stack.stack import Stack
from tests.integration.crash.bench import Bench
from tests.integration.spark_cluster import Cluster, spark_cluster

pytestmark = pytest.mark.slow

EDITS, A_BATCH, HELD = 20, 10, 14
TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 7,
    "rate": "10/s",
    "for": "100ms",
    "population": 1,
    "pages": {"Long": {"edits": EDITS}},
    "patch": [{"page": "Long", "edit": 1, "set": {"wiki_id": "nowiki"}, "error": "unknown_wiki"}],
}
# A named page comes first, so this is its id; its first edit makes its second revision.
RULES: list[dict[str, Any]] = [{"name": "held", "when": {"revision": 1 * 4096 + 1 + HELD}, "do": {"latency": "10m"}}]
SETTINGS: dict[str, Any] = {
    "batch": {"max_offsets": A_BATCH},
    "fetch": {"deadline": "10m", "request_timeout": "10m"},
    "deferral": {"inline_allowance": "10m"},
}


@pytest.fixture
def cluster(stack: tuple[Guardian, Stack], tmp_path: Path) -> Iterator[Cluster]:
    with spark_cluster(stack[0], tmp_path) as made:
        yield made


def fetching(cluster: Cluster, endpoint: str) -> ManagedProcess | None:
    """The worker whose Python has a connection to the mock, when it is only one: the other may have kept some."""
    port = urlsplit(endpoint).port
    found = [node for node in cluster.nodes if any(_asks(process, port) for process in node.tree())]
    return found[0] if len(found) == 1 else None


def _asks(process: psutil.Process, port: int | None) -> bool:
    try:
        open_ = process.net_connections("tcp")
    except psutil.Error:
        return False
    return any(one.raddr and one.raddr.port == port and one.status == psutil.CONN_ESTABLISHED for one in open_)


def test_a_stage_that_would_run_again_is_a_crash(make_bench: Callable[..., Bench], cluster: Cluster) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=SETTINGS, spark=cluster.settings())
    bench.publish(wait=True)
    run = bench.start()
    run.await_condition(lambda: bench.in_flight("held"), "an event of the second batch to be fetched")
    (begun,) = run.said("batch_started", batch=1)
    assert begun["reserved"], "nothing of the batch is shuffled"
    lost = run.await_condition(lambda: fetching(cluster, bench.stack.mock_api.endpoint), "one worker to fetch")
    lost.kill_tree()
    assert run.await_end() == 1
    (failed,) = run.said("failed")
    assert "maximum allowable number of times: 1" in failed["error"]
    assert not run.said("task_retried")
    bench.remove_rule("held")
    again = bench.start()
    bench.await_drained(again)
    again.terminate()
    audit = bench.assert_clean(restarted=True)
    assert audit.errors == 1
