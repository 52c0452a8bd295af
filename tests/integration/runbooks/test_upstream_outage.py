"""docs/runbooks/upstream-outage.md: every request is answered 503 until the breaker is open and has probed."""

from typing import Any

import pytest

from tests.integration.runbooks.conftest import TRAFFIC, MakeOperator

ROOMS = ("docs/runbooks", "pipeline/fetch")
SETTINGS: dict[str, Any] = {
    "batch": {"max_offsets": 20, "trigger": "500ms"},
    "fetch": {"concurrency": 8, "backoff": "50ms"},
    "breaker": {
        "minimum_requests": 6,
        "window": "1s",
        "open_for": "1s",
        "open_for_cap": "2s",
        "trial_requests": 3,
        "deferred_share": "0%",
    },
    "deferral": {"slow_lane": {"attempts": 20, "backoff": "5s", "backoff_cap": "10s"}},
}


@pytest.mark.slow
def test_the_page(make_operator: MakeOperator) -> None:
    operator = make_operator(
        "upstream-outage.md",
        traffic=TRAFFIC | {"population": 40, "for": "500ms"},
        rules=[{"name": "down", "do": {"status": 503}}],
        settings=SETTINGS,
    )
    bench = operator.bench
    bench.publish(wait=True)
    operator.start("--new", "earliest")
    operator.until(
        lambda: operator.logged("breaker_open") and operator.logged("breaker_probe", healthy=False),
        "the breaker to open, and a probe to be refused",
    )
    operator.until(lambda: bench.deferred() > 0, "what was under way to be deferred")
    operator.step("First check")
    operator.step("While it lasts")
    bench.remove_rule("down")
    operator.until(lambda: operator.logged("breaker_closed"), "a probe to succeed")
    operator.step("When the upstream is back")
    operator.until(bench.is_drained, "all events to be emitted")
    operator.step("It is over when")
    operator.finish()
    assert operator.stop() == 0
    assert not operator.logged("gave_up")
    bench.assert_clean(restarted=False)
