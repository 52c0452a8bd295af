"""docs/runbooks/stop-and-upgrade.md, with a job that has emitted all there is."""

from tests.integration.runbooks.conftest import MakeOperator

ROOMS = ("docs/runbooks", "pipeline/driver", "pipeline/ops")


def test_the_page(make_operator: MakeOperator) -> None:
    operator = make_operator("stop-and-upgrade.md")
    bench = operator.bench
    bench.publish(wait=True)
    operator.start("--new", "earliest")
    operator.until(bench.is_drained, "all events to be emitted")
    operator.step("First check")
    operator.step("Stop")
    assert operator.await_end() == 0
    operator.step("Ask the new version")
    operator.step("Start")
    operator.step("When two versions run at once")
    assert operator.await_end(-2) == 2
    operator.step("Which one has ended")
    operator.until(bench.is_drained, "nothing to be left")
    operator.step("It is over when")
    operator.finish()
    assert operator.stop() == 0
    assert bench.assert_clean(restarted=True).duplicated == 0
