import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

import orjson

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.client import FetchedText, FetchFailedError, WikiClient
from pipeline.fetch.deadline import Deadline
from pipeline.fetch.route import HTML, Head, Route
from pipeline.jobs import registry
from pipeline.jobs.enrichment import Enrichment, Removal
from pipeline.jobs.message import InTurn, Outcome, SourceMessage
from pipeline.records.claim_check import Claim, ClaimStore
from pipeline.records.claim_key import PageRevision
from pipeline.records.claim_origin import ClaimOrigin
from pipeline.records.error_event import Failure
from pipeline.records.record import Headers, Position, Record
from tests.unit.pipeline.making import make_config

LIMIT_S = 41.5
Answer = str | FetchedText | BaseException


@dataclass
class FakeClient:
    """Answers by revision id; `order` has the answers come in that order, whatever the order of the requests."""

    answers: dict[int, Answer] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    asked: list[tuple[str, int, str, Deadline]] = field(default_factory=list)
    closed: bool = False
    room_bytes: int = 1024 * 1024

    def __post_init__(self) -> None:
        self._answered: dict[int, asyncio.Event] = {}

    def deadline(self, limit_s: float) -> Deadline:
        return Deadline(limit_s, lambda: 0.0)

    async def fetch(
        self,
        wiki_id: str,
        rev_id: int,
        *,
        request_id: str,
        deadline: Deadline,
        route: Route = HTML,
        compressed: bool = False,
    ) -> FetchedText:
        self.asked.append((wiki_id, rev_id, request_id, deadline))
        before = self.order[: self.order.index(rev_id)] if self.order else []
        for earlier in before:
            await self._answered.setdefault(earlier, asyncio.Event()).wait()
        self._answered.setdefault(rev_id, asyncio.Event()).set()
        answer = self.answers[rev_id]
        if isinstance(answer, BaseException):
            raise answer
        body = answer if isinstance(answer, FetchedText) else FetchedText(answer, None)
        return FetchedText(route.read(rev_id, Head("text/html", str(rev_id)), body.text), body.content_length)

    def hold(self, count: int) -> bool:
        return count <= self.room_bytes

    async def close(self) -> None:
        self.closed = True


@dataclass
class FakeClaims:
    stored: list[bytes] = field(default_factory=list)
    down: Exception | None = None

    about: list[PageRevision | None] = field(default_factory=list)
    origins: list[ClaimOrigin | None] = field(default_factory=list)

    async def keep(self, payload: bytes, about: PageRevision | None = None, origin: ClaimOrigin | None = None) -> Claim:
        if self.down:
            raise self.down
        self.stored.append(payload)
        self.about.append(about)
        self.origins.append(origin)
        return Claim("claims", f"key-{len(payload)}", len(payload), "0" * 64)


@dataclass
class Bench:
    """The job with fakes around it."""

    config: PipelineConfig
    client: FakeClient
    claims: FakeClaims
    make: registry.MakeJob | None = None
    removal: Removal | None = None

    def job(self) -> Enrichment[Any, Any]:
        client = cast("WikiClient", self.client)
        job = (self.make or registry.JOBS[self.config.job])(self.config, client)
        return Enrichment(self.config, job, client, cast("ClaimStore", self.claims), self.removal)

    def process(
        self, event: dict[str, Any] | bytes | None, *, key: bytes | None = b"page", headers: Headers = ()
    ) -> Outcome:
        """What comes of one event; hanging is a failure."""
        value = orjson.dumps(event) if isinstance(event, dict) else event
        when = datetime(2026, 3, 2, 9, tzinfo=UTC)
        message = SourceMessage(Position("source", 0, 5), key, value, when, headers=headers)
        job = self.job()

        async def go() -> Outcome:
            async with asyncio.timeout(20):
                outcome = await job.process(message, limit_s=LIMIT_S)
                return await outcome.finish() if isinstance(outcome, InTurn) else outcome

        return asyncio.run(go())

    def output(self, event: dict[str, Any] | bytes | None, **kwargs: Any) -> tuple[Record, dict[str, Any]]:
        """The record, which must be one of the sink's topic, and its value."""
        record = self.process(event, **kwargs)
        assert isinstance(record, Record), record
        assert record.topic == self.config.sink.topic, record.value
        return record, orjson.loads(record.value)

    def error(self, event: dict[str, Any] | bytes | None, **kwargs: Any) -> tuple[Record, dict[str, Any]]:
        """The record, which must be one of the error topic, and its value."""
        record = self.process(event, **kwargs)
        assert isinstance(record, Record), record
        assert record.topic == self.config.sink.error_topic, record.value
        return record, orjson.loads(record.value)


def bench(answers: Any = None, *, order: Any = None, **sections: Any) -> Any:
    """The job of a configuration, with answers by revision."""
    return Bench(make_config(**sections), FakeClient(answers or {}, order or []), FakeClaims())


def failed(error_type: Any, **kwargs: Any) -> FetchFailedError:
    return FetchFailedError(Failure(error_type, f"it says {error_type}"), **kwargs)
