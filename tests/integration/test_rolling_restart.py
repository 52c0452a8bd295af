"""A rolling restart: the successor of a job, of another version, starts before the job has ended, as by an orchestrator
that first starts the new one (`docs/running.md` asks for `Recreate` in Kubernetes).

Set-up: live traffic with a slow page, so that each time a batch is at work or soon is, and the ledger holds events. The
successors have other settings. Steps: the first one gets its SIGTERM in the moment in which the second takes the ledger
over, the second one gets none.
Checked: which of them ends with what, and that nothing is lost or out of order; what came twice is the same.
"""

import signal
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from devkit.programs.places import merge
from tests.integration.crash.bench import Bench, Run

ROOMS = ("pipeline/deferral", "pipeline/driver")
TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 12,
    "rate": "8/s",
    "for": "90s",
    "population": 40,
    "pages": {"Slow": {"edits": 12}},
}
RULES = [{"name": "slow", "when": {"page": "Slow"}, "do": {"latency": "4s"}}]
SETTINGS: dict[str, Any] = {
    "batch": {"trigger": "500ms", "max_offsets": 40},
    "deferral": {"inline_allowance": "1s", "slow_lane": {"backoff": "1s"}},
    "stop_timeout": "15s",
}
FENCED = ("another start of this job has taken checkpoint", "has started, and this one is of epoch")

pytestmark = pytest.mark.slow


def replaced_by(bench: Bench, older: Run, *, is_told: bool, **settings: Any) -> Run:
    """A start with these settings, once it runs. `is_told`: the older one gets its SIGTERM on the way there."""
    bench.config_file.write_bytes(orjson.dumps(merge(orjson.loads(bench.config_file.read_bytes()), settings)))
    newer = bench.start(beside=True)
    newer.await_line("ledger")
    if is_told:
        older.process.signal(signal.SIGTERM)
    newer.await_line("started")
    return newer


def test_nothing_is_lost_or_out_of_order_while_two_versions_are_alive(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=RULES, settings=SETTINGS)
    bench.publish()
    first = bench.start()
    first.await_line("batch_committed", batch=1)
    first.await_condition(bench.deferred_ever, "an event to be deferred")
    second = replaced_by(
        bench, first, is_told=True, fetch={"concurrency": 3}, batch={"trigger": "1s", "max_offsets": 30}
    )
    assert first.await_end() in (0, 2), "stopped by its signal, or ended as it was replaced, whichever came first"
    # One that was replaced before it wrote anything would say nothing of two that did.
    second.await_line("batch_committed")
    third = replaced_by(bench, second, is_told=False, fetch={"concurrency": 5}, batch={"trigger": "500ms"})
    assert second.await_end() == 2, "no signal has come"
    assert any(words in second.logged("failed")[0]["error"] for words in FENCED)
    bench.await_drained(third)
    assert third.terminate() == 0
    bench.assert_clean(restarted=True)
