"""docs/runbooks/position-gone.md: retention takes what a stopped job has to read next."""

from kafka.structs import TopicPartition

from devkit.stack.topics import topic_admin
from tests.integration.runbooks.conftest import MakeOperator
from tests.integration.runbooks.operator import sources_of
from tests.integration.test_operations import publish, read

ROOMS = ("docs/runbooks", "pipeline/ops")


def test_the_page(make_operator: MakeOperator) -> None:
    operator = make_operator("position-gone.md")
    bench = operator.bench
    bench.publish(wait=True)
    operator.start("--new", "earliest")
    operator.until(bench.is_drained, "all events to be emitted")
    assert operator.stop() == 0
    topic, events = bench.config.source.topic, sum(bench.committed().values())
    publish(bench, read(bench.bootstrap, topic))
    gone = events + events // 2
    with topic_admin(bench.bootstrap, "deleted records") as admin:
        admin.delete_records({TopicPartition(topic, 0): gone})

    operator.step("First check")
    operator.step("Go on with what remains")
    operator.until(operator.has_nothing_left, "what remains to be emitted")
    operator.step("It is over when")
    operator.finish()
    assert operator.stop() == 0
    again = {offset for _, _, offset in sources_of(bench) if offset >= events}
    assert again
    assert min(again) >= gone
