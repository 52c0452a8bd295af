import itertools
import json
from dataclasses import replace
from typing import Any, ClassVar

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.admin import ConfigFilterType, ConfigResource, NewTopic
from kafka.errors import KafkaTimeoutError, MessageSizeTooLargeError

from pipeline.errors import PipelineError, RefusedError
from pipeline.ops import fan_out
from pipeline.ops.copying import Copy, CopyStoppedError, KafkaTarget, Pace, copy_all
from pipeline.ops.fan_out import copied, make_target, page_key, require_target
from pipeline.ops.source import Bounds, SourceRecord
from tests.unit.described_configs import described_configs
from tests.unit.pipeline.making import make_event
from tests.unit.pipeline.ops.fake_kafka import BOOTSTRAP, FakeTarget

COPIES = [Copy(None, str(number).encode(), ()) for number in range(5)]
KEY = b'{"wiki_id":"enwiki","page_id":7}'


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


def record(value: bytes | None, key: bytes | None = b"own") -> SourceRecord:
    return SourceRecord(1, 5, 1234, key, value, (("h", b"1"),))


def test_a_copy_has_its_pages_key_and_says_where_it_was() -> None:
    value = orjson.dumps(make_event(page_id=7))
    marked = (("h", b"1"), ("copied-from", b"src/1/5"))
    assert copied(record(value), "src") == Copy(KEY, value, marked, None, 1234)


def test_events_of_a_page_have_one_key_whatever_else_they_say() -> None:
    moved = make_event("move", page_id=7, page={"page_title": "Other", "page_id": 7.0})
    values = [orjson.dumps(one) for one in (make_event(page_id=7), make_event("delete", page_id=7), moved)]
    assert {page_key(record(value, key)) for value in values for key in (None, b"a", b"b")} == {KEY}
    assert page_key(record(orjson.dumps(make_event(page_id=7, wiki_id="dewiki")))) != KEY


NO_NUMBERS = (b"null", b"7.5", b"1e20", b"-99999999999999999999", b"true", b'"7"')


@pytest.mark.parametrize(
    "value",
    [
        *(None, b"", b"{", b"[]", b"null", b'"text"', b"{}", b'{"wiki_id":"enwiki"}', b'{"wiki_id":"enwiki","page":7}'),
        *(b'{"wiki_id":"enwiki","page":{"page_id":%b}}' % number for number in NO_NUMBERS),
        b'{"wiki_id":null,"page":{"page_id":7}}',
    ],
)
def test_what_names_no_page_keeps_its_key(value: bytes | None) -> None:
    assert page_key(record(value)) == b"own"
    assert page_key(record(value, None)) is None


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["wiki_id", "page", "page_id"]), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["wiki_id", "page"]), JSON))
def test_any_value_can_be_copied(value: dict[str, Any]) -> None:
    text = json.dumps(value).encode()
    assert isinstance(page_key(record(text)), bytes)


@pytest.mark.parametrize(
    ("bounds", "why"),
    [
        (Bounds({0: 0}, {0: 0}), "is there with 1 partitions, not 2"),
        (Bounds({0: 0, 1: 3}, {0: 1, 1: 7}), "holds 5 records"),
    ],
)
def test_a_topic_that_is_not_the_one_that_would_be_made(bounds: Bounds, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        require_target(bounds, "t", 2)
    require_target(Bounds({0: 4, 1: 0}, {0: 4, 1: 0}), "t", 2)  # an empty one will do


class FakeAdmin:
    """A cluster with the topic src; `refusal` is its answer to one that is to be made."""

    SETTINGS: ClassVar = {
        "max.message.bytes": ("2000000", "DYNAMIC_TOPIC_CONFIG"),
        "retention.ms": ("86400000", "STATIC_BROKER_CONFIG"),
        "segment.bytes": ("1073741824", "DEFAULT_CONFIG"),
        "cleanup.policy": ("delete", "DYNAMIC_DEFAULT_BROKER_CONFIG"),
    }

    def __init__(self, refusal: tuple[int, str | None] = (0, None)) -> None:
        self.refusal = refusal
        self.made: list[NewTopic] = []
        self.awaited: list[str] = []

    def describe_topics(self) -> list[dict[str, Any]]:
        return [{"name": "src", "partitions": [0]}]

    def describe_configs(
        self, wanted: list[ConfigResource], config_filter: ConfigFilterType | str = "modified"
    ) -> dict[str, Any]:
        return described_configs({one.name: self.SETTINGS for one in wanted}, wanted, config_filter)

    def create_topics(self, topics: list[NewTopic], timeout_ms: int, *, raise_errors: bool) -> dict[str, Any]:
        assert not raise_errors
        self.made += topics
        code, message = self.refusal
        return {"topics": [{"name": one.name, "error_code": code, "error_message": message} for one in topics]}

    def wait_for_topics(self, names: list[str]) -> None:
        self.awaited += names

    def close(self) -> None:
        pass


def test_a_copy_has_what_was_set_for_its_topic_and_no_default_of_the_brokers(monkeypatch: pytest.MonkeyPatch) -> None:
    admin = FakeAdmin()
    monkeypatch.setattr(fan_out, "KafkaAdminClient", lambda **_: admin)
    make_target("broker:1", "src", "wide", 8)
    (made,) = admin.made
    assert (made.name, made.num_partitions) == ("wide", 8)
    assert made.topic_configs == {"max.message.bytes": "2000000"}
    assert admin.awaited == ["wide"]
    make_target("broker:1", "other", "src", 8)
    assert admin.made == [made], "it is there"


@pytest.mark.parametrize(
    ("refusal", "exit_code", "message"),
    [
        ((17, "Topic name is invalid: 'a b'"), 2, "Topic name is invalid: 'a b'"),
        ((37, None), 2, "Number of partitions is invalid"),
        ((7, "later"), 1, "later"),
    ],
)
def test_a_topic_that_the_broker_does_not_make(
    refusal: tuple[int, str | None], exit_code: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = FakeAdmin(refusal)
    monkeypatch.setattr(fan_out, "KafkaAdminClient", lambda **_: admin)
    with pytest.raises(PipelineError) as caught:
        make_target("broker:1", "src", "a b", 8)
    assert caught.value.exit_code == exit_code
    assert str(caught.value).startswith(f"topic a b at broker:1 could not be made: {message}")
    assert not admin.awaited


@pytest.mark.parametrize("timestamp", [-1, 10**18])
def test_a_copy_has_no_timestamp_that_its_broker_may_refuse(timestamp: int) -> None:
    assert copied(replace(record(b""), timestamp_ms=timestamp), "src").timestamp_ms == 0
