"""docs/runbooks/schema-bump.md: the producers write a major version that the job does not read."""

import orjson
from kafka import KafkaProducer

from devkit.observe.audit.arrivals import read_topic
from tests.integration.crash.bench import Bench
from tests.integration.runbooks.conftest import MakeOperator

ROOMS = ("docs/runbooks", "pipeline/driver")
NEW = "/mediawiki/page/change/2.0.0"
# As many as make a batch worth a look.
EVENTS = 120


def test_the_page(make_operator: MakeOperator) -> None:
    operator = make_operator("schema-bump.md", settings={"batch": {"max_offsets": 1000}})
    bench = operator.bench
    bench.publish(wait=True)
    operator.start("--new", "earliest")
    operator.until(bench.is_drained, "all events to be emitted")
    before = len(bench.outputs())
    bump(bench)
    assert operator.await_end() == 2
    for heading in ("First check", "Which version consumers get", "Roll out"):
        operator.step(heading)
    operator.finish()
    assert len(bench.outputs()) == before


def bump(bench: Bench) -> None:
    """The first event once more, in the new version; all in one request, so that no batch has only some of them."""
    first = next(iter(read_topic(bench.bootstrap, bench.config.source.topic)))
    value = orjson.dumps({"$schema": NEW} | {k: v for k, v in orjson.loads(first.value).items() if k != "$schema"})
    producer = KafkaProducer(bootstrap_servers=bench.bootstrap, linger_ms=10_000, batch_size=1024 * 1024)
    for _ in range(EVENTS):
        producer.send(bench.config.source.topic, key=first.key, value=value, partition=first.partition)
    producer.flush()
    producer.close()
