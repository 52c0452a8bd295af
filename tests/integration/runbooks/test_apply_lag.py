"""docs/runbooks/apply-lag.md: the store is down while mutations come, and answers again.

Checked beside what the page shows: all of them are in the store at the end.
"""

from tests.integration.runbooks.apply_place import statement
from tests.integration.runbooks.conftest import MakeApplyOperator

ROOMS = ("docs/runbooks", "pipeline/apply")


def test_the_page(make_apply_operator: MakeApplyOperator) -> None:
    operator = make_apply_operator("apply-lag.md")
    place = operator.bench
    operator.start("--new", "earliest")
    place.write(added=[statement("a")])
    operator.until(lambda: operator.logged("mutations_applied"), "the work to be logged")
    place.store_server.kill()
    place.write(added=[statement("b")])
    operator.until(lambda: operator.logged("triple_store_down"), "the store to be missed")
    operator.until(lambda: not place.has_no_lag(), "a lag")

    operator.step("First check")
    place.store_server.start()
    operator.until(lambda: operator.logged("triple_store_back"), "the store to be back")
    operator.step("When the store is back")
    operator.step("Probe less")
    place.write(added=[statement("c")])
    operator.until(lambda: place.next_offset() == 3, "all mutations to be in the store")
    operator.until(place.has_no_lag, "no lag")
    operator.step("It is over when")
    operator.finish()
    assert operator.stop() == 0
    assert operator.logged("configuration")[-1]["effective"]["apply"]["probe_share"] == 0.05
    assert place.divergence(present=["a", "b", "c"], absent=[]).missing == 0
