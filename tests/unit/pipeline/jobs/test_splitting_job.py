"""A job whose output takes several records: each fits by itself, and they are one output wherever records go."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, cast

import pytest

from pipeline.deferral.entry import Resolved
from pipeline.deferral.task import RoundWriter, Settled
from pipeline.deferral.wire import Tombstone, parse
from pipeline.fetch.client import WikiClient
from pipeline.jobs.enrichment import Enrichment
from pipeline.jobs.job import OutputPart, SplittingJob
from pipeline.jobs.message import SourceMessage
from pipeline.records.claim_check import ClaimStore
from pipeline.records.record import Position, Record
from pipeline.records.size import serialized_size
from pipeline.worker.ordered_writer import OrderedWriter
from tests.unit.pipeline.deferral.producing import NotingProducer
from tests.unit.pipeline.jobs.conftest import FakeClaims, FakeClient
from tests.unit.pipeline.making import make_config

LIMIT = 1000
MESSAGE = SourceMessage(Position("s", 0, 7), b"Q1", b"a:bb:ccc", datetime(2026, 3, 2, tzinfo=UTC))


class Words:
    """A record for each word of the event; `-` is an event without output, and what is behind `!` cannot be slim. What
    is behind `>` goes to a topic of its own.
    """

    def __init__(self) -> None:
        self.limits: list[int | None] = []

    def schema(self, message: SourceMessage) -> str:
        return "words"

    def parse(self, message: SourceMessage) -> Any:
        return WordsEvent((message.value or b"").decode())

    def wants(self, event: Any) -> bool:
        return True

    def needs_fetch(self, event: Any) -> bool:
        return False

    def key(self, message: SourceMessage, event: Any) -> bytes | None:
        return message.key

    async def fetch(self, event: Any, *, deadline: Any) -> Any:
        raise NotImplementedError

    def value(self, event: Any, fetched: Any, *, stream: str) -> bytes:
        return b"slim"

    def parts(self, event: Any, fetched: Any, *, stream: str, limit_bytes: int | None) -> Sequence[OutputPart]:
        self.limits.append(limit_bytes)
        words = [] if event.text == "-" else event.text.split(":")
        return [
            OutputPart(
                word.encode(),
                (("part", str(number).encode()),),
                None if word.startswith("!") else partial(self.value, event, None, stream=stream),
                "aside" if word.startswith(">") else None,
            )
            for number, word in enumerate(words)
        ]


class WordsEvent:
    domain = None

    def __init__(self, text: str) -> None:
        self.text = text


def process(text: str, *, policy: str = "serialized") -> tuple[Record | None, list[bytes], Words]:
    config = make_config(sink={"max.request.size": LIMIT}, record_limit={"policy": policy})
    job, claims = Words(), FakeClaims()
    enrichment = Enrichment(config, job, cast(WikiClient, FakeClient()), cast(ClaimStore, claims))
    message = SourceMessage(MESSAGE.position, MESSAGE.key, text.encode(), MESSAGE.appended)
    outcome = asyncio.run(enrichment.process(message, limit_s=1))
    assert outcome is None or isinstance(outcome, Record)
    return outcome, claims.stored, job


def output(text: str) -> tuple[Record, list[bytes]]:
    """The first record, which there has to be, and what was stored."""
    record, stored, _ = process(text)
    assert record is not None
    return record, stored


def test_it_is_a_job_that_splits() -> None:
    assert isinstance(Words(), SplittingJob)


@pytest.mark.parametrize(
    ("text", "values", "stored"),
    [
        ("a:bb", [b"a", b"bb"], []),
        (f"a:{'x' * 2000}:c", [b"a", b"slim", b"c"], [b"x" * 2000]),
        ("x" * 2000, [b"slim"], [b"x" * 2000]),
    ],
    ids=["all fit", "the large one alone by claim check", "the only one"],
)
def test_each_record_is_measured_by_itself(text: str, values: list[bytes], stored: list[bytes]) -> None:
    first, payloads = output(text)
    assert [record.value for record in first.all] == values
    assert payloads == stored
    assert [dict(record.headers)["part"] for record in first.all] == [b"%d" % number for number in range(len(values))]
    assert {dict(record.headers)["source-offset"] for record in first.all} == {b"%019d" % 7}
    assert {(record.topic, record.key) for record in first.all} == {(first.topic, b"Q1")}
    checks = ["claim-check-key" in dict(record.headers) for record in first.all]
    assert checks == [value == b"slim" for value in values]


def test_one_that_fits_in_no_way_makes_the_whole_event_an_error_event() -> None:
    record, payloads = output(f"a:!{'x' * 2000}")
    assert record.following == ()
    assert b"source_event_too_large" in record.value
    assert payloads == []


def test_a_record_may_have_a_topic_of_its_own() -> None:
    first, payloads = output(f"a:>bb:>{'x' * 2000}:c")
    assert [record.topic == "aside" for record in first.all] == [False, True, True, False]
    assert {record.key for record in first.all} == {b"Q1"}
    assert {dict(record.headers)["source-offset"] for record in first.all} == {b"%019d" % 7}
    assert payloads == [b">" + b"x" * 2000], "it is measured as the others are"


def test_an_event_without_output_leaves_none() -> None:
    assert process("-")[0] is None


def test_the_job_knows_how_large_a_value_may_be() -> None:
    (limit,) = process("!" + "y" * 100)[2].limits
    assert limit is not None
    largest, _ = output("!" + "y" * (limit - 14))  # the part's own header, and lengths that grow
    assert serialized_size(largest.key, largest.value, largest.headers) <= LIMIT
    assert process("!" + "y" * 2000, policy="none")[2].limits == [None]


def test_a_deferred_event_is_resolved_behind_the_last_of_its_records() -> None:
    record, _ = output("a:bb:ccc")
    producer = NotingProducer()
    writer = RoundWriter(OrderedWriter(lambda: cast(Any, producer)), "ledger", epoch=5)
    settled = Settled(record, Resolved(MESSAGE.position))
    assert settled.size == len(b"abbccc")
    writer.write([settled])
    assert [record.value for record in producer.sent[:-1]] == [b"a", b"bb", b"ccc"]
    last = producer.sent[-1]
    assert isinstance(parse(last.key, last.value, last.headers, partition=0, offset=0), Tombstone)
    assert producer.before[-1] == 0, "all records were acknowledged before the tombstone was sent"
