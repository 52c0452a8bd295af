"""A Spark cluster loses a worker with rows of a batch that were on their way to another task: the batch is a crash.

Set-up: events of one page, and a job with one executor at a time. The first event ends in an error event, so the rest
of its batch waits for the next one, which takes them from the ledger: its rows are shuffled. While an event of it is
fetched, the worker dies with its executor and all that had been shuffled. To go on, Spark would have to run a stage
again, whose tasks are first attempts. Checked: the process ends instead, and says so; the next one repeats the batch,
and the audit takes that for a restart. With as many attempts as Spark itself allows, the same batch goes on, and nobody
says that its events were read twice.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from devkit.guardian import Guardian
from devkit.stack.stack import Stack
from pipeline.driver.session import _REQUIRED
from tests.integration.crash.bench import Bench, Run
from tests.integration.spark_cluster import Cluster, spark_cluster

ROOMS = ("pipeline/driver", "pipeline/worker")
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
    "fetch": {"deadline": "5m", "request_timeout": "5m"},
    "deferral": {"inline_allowance": "5m"},
}
ATTEMPTS = "spark.stage.maxConsecutiveAttempts"
AS_SPARK_ITSELF = {"pipeline.driver.session:_REQUIRED": {**_REQUIRED, ATTEMPTS: "4"}}


@pytest.fixture
def bench(make_bench: Callable[..., Bench], cluster: Cluster) -> Bench:
    # One executor at a time: what is shuffled is lost with the task that reads it.
    made = make_bench(
        traffic=TRAFFIC, rules=RULES, settings=SETTINGS, spark={**cluster.settings(), "spark.cores.max": "2"}
    )
    made.publish(wait=True)
    return made


@pytest.fixture
def cluster(stack: tuple[Guardian, Stack], tmp_path: Path) -> Iterator[Cluster]:
    with spark_cluster(stack[0], tmp_path) as made:
        yield made


def lose_shuffled_rows(bench: Bench, cluster: Cluster, run: Run) -> None:
    """In the second batch, while an event of it is fetched."""
    run.await_condition(lambda: bench.in_flight("held"), "an event of the second batch to be fetched")
    (begun,) = run.logged("batch_started", batch=1)
    assert begun["reserved"], "nothing of the batch is shuffled"
    lost = cluster.at_work()
    assert lost
    lost.kill_tree()


def test_a_stage_that_would_run_again_is_a_crash(bench: Bench, cluster: Cluster) -> None:
    run = bench.start()
    lose_shuffled_rows(bench, cluster, run)
    assert run.await_end() == 1
    (failed,) = run.logged("failed")
    assert "maximum allowable number of times: 1" in failed["error"]
    assert not run.logged("task_retried")
    assert not run.logged("batch_written", batch=1)
    bench.remove_rule("held")
    again = bench.start()
    bench.await_drained(again)
    again.terminate()
    audit = bench.assert_clean(restarted=True)
    assert audit.errors == 1


def test_spark_itself_would_run_it_again_and_nobody_would_say_so(bench: Bench, cluster: Cluster) -> None:
    run = bench.start(constants=AS_SPARK_ITSELF)
    lose_shuffled_rows(bench, cluster, run)
    bench.remove_rule("held")
    bench.await_drained(run)
    assert not run.logged("task_retried")
    run.terminate()
    assert bench.fetches() > EDITS, "nothing was fetched twice"
