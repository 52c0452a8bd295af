"""Two processes of one job without deferral, and so without a ledger, on one checkpoint: the older one ends.

Set-up: traffic that goes on. Checked: the older one ends with exit code 2 and says why, the later start processes the
rest, and whatever came twice is the same.
"""

from collections.abc import Callable
from typing import Any

from tests.integration.crash.bench import Bench

ROOMS = ("pipeline/driver",)
TRAFFIC: dict[str, Any] = {"generator": "page_change", "seed": 4, "rate": "10/s", "for": "30s", "population": 20}
SETTINGS: dict[str, Any] = {"batch": {"trigger": "500ms"}, "deferral": {"policy": "none"}}


def test_the_later_start_has_the_checkpoint(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings=SETTINGS)
    bench.publish()
    older = bench.start("--allow-unsafe")
    older.await_line("batch_committed", batch=1)
    newer = bench.start("--allow-unsafe", beside=True)
    assert older.await_end() == 2
    assert older.logged("failed")[0]["error"].startswith("another start of this job has taken checkpoint s3a://")
    bench.await_drained(newer)
    assert newer.terminate() == 0
    bench.assert_clean(restarted=True)
