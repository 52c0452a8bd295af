"""What a slow round's task writes, with a producer that notes the order of sends and acks."""

from datetime import timedelta
from typing import Any

import pytest
from kafka.errors import KafkaTimeoutError

from pipeline.config.kafka_section import Kafka
from pipeline.config.pipeline_config import Sink
from pipeline.deferral import round_writer as module
from pipeline.deferral.facts import Resolved, Rewritten
from pipeline.deferral.round_writer import RoundWriter, Settled, round_producer
from pipeline.deferral.wire import Tombstone, parse
from pipeline.records.record import Record
from tests.unit.pipeline.deferral.making import entry
from tests.unit.pipeline.deferral.producing import NotingProducer

OUTPUT = Settled(Record("out", b"p", b"html", ()), Resolved(entry(1).position))
FILTERED = Settled(None, Resolved(entry(2).position))
AGAIN = Settled(None, Rewritten(entry(3).position, 2, 99, "status 504"))
STANDS = Settled(None, None)


def writer(producer: Any) -> RoundWriter:
    return RoundWriter(producer, "ledger", epoch=5)


def test_an_entry_is_resolved_behind_the_ack_of_its_event() -> None:
    producer = NotingProducer()
    facts = writer(producer).write([OUTPUT, FILTERED, AGAIN, STANDS])
    assert facts == [OUTPUT.fact, FILTERED.fact, AGAIN.fact]
    assert [one.topic for one in producer.sent] == ["out", "ledger", "ledger"]
    assert producer.before == [0, 0, 1], "the event was acknowledged before its tombstone was sent"
    assert all(one.acked for one in producer.sent)
    items = [parse(one.key, one.value, one.headers, partition=0, offset=0) for one in producer.sent[1:]]
    assert [(item.epoch, item.position) for item in items if isinstance(item, Tombstone)] == [
        (5, entry(1).position),
        (5, entry(2).position),
    ]


def test_nothing_is_resolved_of_what_is_refused() -> None:
    producer = NotingProducer(refuses="out")
    with pytest.raises(KafkaTimeoutError):
        writer(producer).write([OUTPUT, FILTERED])
    assert [one.topic for one in producer.sent] == ["out"]


def test_what_is_on_its_way_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_UNACKED_BYTES", 1000)
    producer = NotingProducer()
    writer(producer).write([Settled(Record("out", b"p", bytes(400), ()), None)] * 6)
    assert max(producer.before) == 1


@pytest.mark.parametrize(("timeout_s", "ms"), [(None, 2**31 - 1), (5, 5000)])
def test_it_tries_as_long_as_sparks_sink(monkeypatch: pytest.MonkeyPatch, timeout_s: int | None, ms: int) -> None:
    monkeypatch.setattr(module, "KafkaProducer", lambda **given: given)
    timeout = None if timeout_s is None else timedelta(seconds=timeout_s)
    given: Any = round_producer(
        Sink(bootstrap_servers="b:1", topic="o", error_topic="e", delivery_timeout=timeout), Kafka()
    )
    assert (given["delivery_timeout_ms"], given["max_block_ms"]) == (ms, ms)
    assert given["request_timeout_ms"] <= ms
    assert (given["acks"], given["enable_idempotence"]) == ("all", True)
