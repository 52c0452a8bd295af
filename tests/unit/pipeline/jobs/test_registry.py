"""A third job needs its own fetch and its own record shape, and nothing else; here it counts a page's characters."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.snapshot import Fence
from pipeline.fetch.client import FetchFailedError, WikiClient
from pipeline.fetch.deadline import Deadline
from pipeline.jobs import registry
from pipeline.jobs.message import SourceMessage
from pipeline.jobs.names import JOB_DEFAULTS
from pipeline.jobs.page_change_job import PageChangeJob
from pipeline.records.error_event import Failure
from pipeline.records.page_change import PageChange
from pipeline.records.record import Position
from pipeline.worker import spark_task as task
from pipeline.worker.engine import LoopThread
from tests.unit.pipeline.worker.test_spark_task import read, source

MakeConfig = Callable[..., PipelineConfig]
MakeEvent = Callable[..., dict[str, Any]]
WHEN = datetime(2026, 3, 2, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Count:
    """What it fetched."""

    characters: int
    declared_bytes: int | None = None

    def decoded_bytes(self) -> int:
        return 8


class CountingJob(PageChangeJob):
    """Its fetch knows the answer by itself: some pages are slow, some are gone, the others as long as their id."""

    def wants(self, event: PageChange) -> bool:
        return event.page_id != 4

    async def fetch(self, event: PageChange, *, deadline: Deadline) -> Count:
        if event.page_id == 2:
            raise FetchFailedError(Failure("revision_not_found", "gone"))
        if event.page_id == 3:
            raise FetchFailedError(Failure("deadline_exceeded", "slow"), transient=True)
        deadline.begin()
        await asyncio.sleep(0)
        return Count(event.page_id)

    def value(self, event: PageChange, fetched: Count | None, *, stream: str) -> bytes:
        return orjson.dumps({"stream": stream, "id": event.event_id, "characters": fetched and fetched.characters})


@pytest.fixture
def counting(loop_thread: LoopThread, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The worker with the third job in the place of the first, on a loop that ends with the test."""
    clients: list[WikiClient] = []

    def make(_: PipelineConfig, client: WikiClient) -> CountingJob:
        clients.append(client)
        return CountingJob()

    monkeypatch.setattr(task, "_loop_thread", lambda: loop_thread)
    monkeypatch.setattr(task, "_job", task._job.__wrapped__)
    monkeypatch.setattr(registry, "JOBS", {"html-enrichment": make})
    yield None
    for client in clients:
        loop_thread.call(client.close)


def messages(make_event: MakeEvent) -> list[SourceMessage]:
    events = [make_event(page_id=page_id) for page_id in range(1, 6)]
    return [
        SourceMessage(Position("source", 0, at), str(at).encode(), orjson.dumps(event), WHEN)
        for at, event in enumerate([*events, make_event("delete", page_id=6)])
    ]


@pytest.mark.usefixtures("counting")
def test_a_third_job_runs_through_the_whole_worker(
    make_config: MakeConfig, make_event: MakeEvent, in_time: Callable[..., Any]
) -> None:
    """Records, error events, filtering and passing on are the engine's; a slow event ends after the record's time."""
    function = task.enrich(make_config(sink={"topic": "counts"}), workers=1)
    batch = source(messages(make_event))
    records = read(in_time(lambda: list(function(iter([batch])))))
    outputs = {int(dict(one.headers)["source-offset"]): one for one in records if one.topic == "counts"}
    assert {at: orjson.loads(one.value)["characters"] for at, one in outputs.items()} == {0: 1, 4: 5, 5: None}
    errors = [orjson.loads(one.value)["error_type"] for one in records if one.topic != "counts"]
    assert sorted(errors) == ["deadline_exceeded", "revision_not_found"]


@pytest.mark.usefixtures("counting")
def test_its_slow_events_are_deferred_as_those_of_any_job(
    make_config: MakeConfig, make_event: MakeEvent, in_time: Callable[..., Any]
) -> None:
    config = make_config(sink={"topic": "counts"})
    fence = Fence(blocked={}, unreserved=frozenset(), reserved={})
    function = task.enrich_around(config, fence, epoch=1, batch=1, workers=1, limit_bytes=100_000)
    batch = source(messages(make_event))
    records = read(in_time(lambda: list(function(iter([batch])))))
    deferred = [one for one in records if one.topic == config.deferral.topic]
    assert [orjson.loads(one.value)["page"]["page_id"] for one in deferred] == [3]
    assert len(records) == 5


@pytest.mark.usefixtures("counting")
def test_its_records_obey_the_limits(
    make_config: MakeConfig, make_event: MakeEvent, in_time: Callable[..., Any]
) -> None:
    """Of this job even the record without content is over: an error event, and no claim check."""
    config = make_config(sink={"topic": "counts", "max.request.size": 150})
    batch = source(messages(make_event)[5:])
    (record,) = read(in_time(lambda: list(task.enrich(config, workers=1)(iter([batch])))))
    assert orjson.loads(record.value)["error_type"] == "source_event_too_large"


def test_every_name_that_may_be_configured_has_a_job() -> None:
    assert set(registry.JOBS) == set(JOB_DEFAULTS)
