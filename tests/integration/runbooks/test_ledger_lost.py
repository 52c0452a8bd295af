"""docs/runbooks/ledger-lost.md: a page is deferred when an operator's script deletes the topic.

Checked beside what the page shows: each event that has to have an output has one at the end, by its id.
"""

from tests.integration.runbooks.conftest import MakeOperator, delete_topics
from tests.integration.runbooks.operator import ids_at, sources_of

ROOMS = ("docs/runbooks", "pipeline/deferral")
RULES = [{"name": "slow", "when": {"page": "Slow"}, "do": {"latency": "10m"}}]
SETTINGS = {
    "deferral": {
        "inline_allowance": "1s",
        "slow_lane": {"deadline": "5s", "backoff": "1s", "backoff_cap": "5s", "attempts": 50},
    }
}


def test_the_page(make_operator: MakeOperator) -> None:
    operator = make_operator("ledger-lost.md", rules=RULES, settings=SETTINGS)
    bench = operator.bench
    bench.publish(wait=True)
    operator.start("--new", "earliest")
    operator.until(
        lambda: sum(bench.committed().values()) == bench.source_end() and bench.deferred() > 0,
        "all but the slow page to be emitted",
    )
    assert operator.stop() == 0
    lost = ids_at(bench, bench.ever_deferred() - sources_of(bench))
    assert lost
    delete_topics(bench.bootstrap, bench.config.deferral.topic)

    operator.step("First check")
    bench.remove_rule("slow")
    operator.step("Begin with an empty ledger")
    operator.step("Send the events again")
    operator.until(operator.has_nothing_left, "the events that were sent again to be emitted")
    operator.step("It is over when")
    operator.finish()
    assert operator.stop() == 0
    assert ids_at(bench, sources_of(bench)) >= lost
