"""`batch.page_order`, by how many events of one page are under way at once in a task of the main lane."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.jobs.message import SourceMessage
from pipeline.records.record import Record
from pipeline.worker import spark_task as task
from pipeline.worker.engine import LoopThread
from tests.unit.pipeline.deferral.producing import NotingProducer

PAGES = 3
EVENTS = 12


class Busy:
    """Events under way at once, of one page and of all. None ends before as many are under way as should be: they come
    from another thread, at its own pace. Then a few turns of the loop show whether there are more.
    """

    def __init__(self, expected: int) -> None:
        self.of_page, self.of_all = 0, 0
        self._under_way: list[bytes | None] = []
        self._expected, self._reached = expected, asyncio.Event()

    async def process(self, message: SourceMessage, *, limit_s: float) -> Record:
        self._under_way.append(message.key)
        self.of_page = max(self.of_page, self._under_way.count(message.key))
        self.of_all = max(self.of_all, len(self._under_way))
        if len(self._under_way) >= self._expected:
            self._reached.set()
        await self._reached.wait()
        for _ in range(5):
            await asyncio.sleep(0)
        self._under_way.remove(message.key)
        return Record("out", message.key, b"", message.position.headers())


def source() -> pa.RecordBatch:
    columns: dict[str, list[Any]] = {
        "topic": ["s"] * EVENTS,
        "partition": [0] * EVENTS,
        "offset": list(range(EVENTS)),
        "key": [str(offset % PAGES).encode() for offset in range(EVENTS)],
        "value": [b""] * EVENTS,
        "timestamp": [datetime(2026, 3, 2, tzinfo=UTC)] * EVENTS,
    }
    return pa.RecordBatch.from_pydict(columns)


@pytest.mark.parametrize("policy", ["defer", "none"])
@pytest.mark.parametrize(
    ("batch", "of_page", "of_all"),
    [
        ({}, EVENTS // PAGES, EVENTS),
        ({"page_order": "together"}, EVENTS // PAGES, EVENTS),
        ({"page_order": "one_at_a_time"}, 1, PAGES),
    ],
)
def test_how_many_events_of_a_page_are_under_way(
    make_config: Callable[..., PipelineConfig],
    loop_thread: LoopThread,
    monkeypatch: pytest.MonkeyPatch,
    in_time: Callable[..., Any],
    batch: dict[str, str],
    of_page: int,
    of_all: int,
    policy: str,
    producer: NotingProducer,
) -> None:
    job = Busy(of_all)
    monkeypatch.setattr(task, "_loop_thread", lambda: loop_thread)
    monkeypatch.setattr(task, "_job", lambda *_: job)
    monkeypatch.setattr(task, "task_attempt", lambda: 1)
    config = make_config(batch=batch, deferral={"policy": policy})
    if policy == "none":
        function = task.enrich(config, workers=1)
    else:
        fence = task.Fence({}, frozenset(), {})
        function = task.enrich_around(config, fence, epoch=1, batch=1, workers=1, limit_bytes=5000)
    assert in_time(lambda: list(function(iter([source()])))) == []
    emitted = [(one.key, dict(one.headers)) for one in producer.records]
    for page in {key for key, _ in emitted}:
        offsets = [headers["source-offset"] for key, headers in emitted if key == page]
        assert len(offsets) == EVENTS // PAGES
        assert offsets == sorted(offsets)
    assert (job.of_page, job.of_all) == (of_page, of_all)
