import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.errors import KafkaTimeoutError, MessageSizeTooLargeError

from pipeline.errors import PipelineError
from pipeline.ops.copying import Copy, CopyStoppedError, KafkaTarget, Pace, copy_all
from tests.unit.pipeline.ops.fake_kafka import BOOTSTRAP, FakeTarget

COPIES = [Copy(None, str(number).encode(), ()) for number in range(5)]


class Time:
    """A clock that only sleeping and working move."""

    def __init__(self) -> None:
        self.now = 100.0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds


@given(st.floats(0.1, 1000), st.lists(st.floats(0, 5), min_size=1, max_size=50))
def test_no_second_sees_more_than_the_rate(rate: float, work_s: list[float]) -> None:
    """Also after a pause: what was not sent then is not sent in advance."""
    time = Time()
    pace = Pace(rate, time.clock, time.sleep)
    passed = []
    for seconds in work_s:
        time.now += seconds
        pace.wait()
        passed.append(time.now)
    assert all(later - earlier >= 1 / rate - 1e-6 for earlier, later in itertools.pairwise(passed))
    # And it does not wait for more than it has to.
    assert passed[-1] - 100 <= sum(work_s) + len(work_s) / rate + 1e-6


def test_all_is_acknowledged_when_it_is_counted() -> None:
    target = FakeTarget()
    assert copy_all(COPIES, target) == 5
    assert (target.sent, target.finished) == (COPIES, 5)


def test_a_failure_says_how_far_it_came() -> None:
    with pytest.raises(PipelineError, match=r"topic full \(of 3 records sent\)") as caught:
        copy_all(COPIES, FakeTarget(room=3))
    assert caught.value.hint == "make room"


@pytest.mark.parametrize("sent", [0, 3])
def test_what_was_sent_before_it_was_stopped_is_acknowledged(sent: int) -> None:
    target = FakeTarget(stopped_at=sent)
    with pytest.raises(CopyStoppedError) as caught:
        copy_all(COPIES, target)
    assert (caught.value.sent, caught.value.exit_code, target.finished) == (sent, 130, sent)


def test_it_is_a_failure_when_that_cannot_be_acknowledged() -> None:
    class Gone(FakeTarget):
        def finish(self) -> None:
            raise PipelineError("gone")

    with pytest.raises(PipelineError, match=r"gone \(of 3 records sent\)") as caught:
        copy_all(COPIES, Gone(stopped_at=3))
    assert caught.value.exit_code == 1


class FakeProducer:
    """Acknowledges at `flush`, or fails: in `send`, later for a record, or in `flush`."""

    def __init__(self, send: Exception | None = None, ack: Exception | None = None, flush: Exception | None = None):
        self.sent: list[dict[str, Any]] = []
        self._send, self._ack, self._flush = send, ack, flush
        self._errbacks: list[Any] = []

    def send(self, topic: str, **record: Any) -> "FakeProducer":
        if self._send:
            raise self._send
        self.sent.append({"topic": topic} | record)
        return self

    def add_errback(self, callback: Any) -> None:
        self._errbacks.append(callback)

    def flush(self, timeout: float) -> None:
        if self._flush:
            raise self._flush
        for callback in self._errbacks if self._ack else ():
            callback(self._ack)


def test_what_the_producer_gets() -> None:
    producer = FakeProducer()
    copy = Copy(b"k", None, (("a", b"1"), ("none", b"2"), ("none", None), ("a", b"")), partition=3, timestamp_ms=9)
    assert copy_all([copy], KafkaTarget(producer, BOOTSTRAP, "t")) == 1
    headers = [("a", b"1"), ("a", b"")]
    sent = {"topic": "t", "key": b"k", "value": None, "headers": headers, "partition": 3, "timestamp_ms": 9}
    assert producer.sent == [sent]


@pytest.mark.parametrize(
    ("key", "value", "sent"), [(None, None, b""), (b"k", None, None), (None, b"", b""), (None, b"v", b"v")]
)
def test_without_key_and_value_the_value_is_empty(key: bytes | None, value: bytes | None, sent: bytes | None) -> None:
    producer = FakeProducer()
    assert copy_all([Copy(key, value, ())], KafkaTarget(producer, BOOTSTRAP, "t")) == 1
    assert [(one["key"], one["value"]) for one in producer.sent] == [(key, sent)]


@pytest.mark.parametrize(
    ("producer", "sent"),
    [
        (FakeProducer(send=MessageSizeTooLargeError("big")), 0),
        (FakeProducer(ack=MessageSizeTooLargeError("big")), 5),
        (FakeProducer(flush=KafkaTimeoutError("big")), 5),
    ],
    ids=["send", "acknowledge", "flush"],
)
def test_what_the_producer_refuses_is_an_error(producer: FakeProducer, sent: int) -> None:
    with pytest.raises(PipelineError, match=rf"topic t at broker:9092 could not be written: .*big.*of {sent} records"):
        copy_all(COPIES, KafkaTarget(producer, BOOTSTRAP, "t"))


def test_after_a_failure_nothing_more_is_sent() -> None:
    producer = FakeProducer(ack=MessageSizeTooLargeError("big"))
    target = KafkaTarget(producer, BOOTSTRAP, "t")
    target.send(COPIES[0])
    producer.flush(1)
    with pytest.raises(PipelineError):
        target.send(COPIES[1])
    assert len(producer.sent) == 1
