"""What a slow round's task writes, with a producer that notes the order of sends and acks."""

from typing import Any

import pytest
from kafka.errors import KafkaTimeoutError

from pipeline.deferral.entry import Resolved, Rewritten
from pipeline.deferral.task import RoundWriter, Settled
from pipeline.deferral.wire import Tombstone, parse
from pipeline.records.record import Record
from pipeline.worker.ordered_writer import OrderedWriter
from tests.unit.pipeline.deferral.making import entry
from tests.unit.pipeline.deferral.producing import NotingProducer

OUTPUT = Settled(Record("out", b"p", b"html", ()), Resolved(entry(1).position))
FILTERED = Settled(None, Resolved(entry(2).position))
AGAIN = Settled(None, Rewritten(entry(3).position, 2, 99, "status 504"))
STANDS = Settled(None, None)


def writer(producer: Any) -> RoundWriter:
    return RoundWriter(OrderedWriter(lambda: producer), "ledger", epoch=5)


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
