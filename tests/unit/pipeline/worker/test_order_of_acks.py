"""Which records a task hands to Spark's sink, which it writes by itself as they must land in their order, and how many
events of one page are under way at once in it.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.snapshot import Fence
from pipeline.jobs.message import SourceMessage, Unfinished
from pipeline.records.error_event import Failure
from pipeline.records.record import Record
from pipeline.worker import spark_task as task
from tests.unit.pipeline.deferral.producing import NotingProducer
from tests.unit.pipeline.worker.conftest import Work
from tests.unit.pipeline.worker.test_spark_task import at, source

WHEN = datetime(2026, 3, 2, tzinfo=UTC)
TOO_EARLY = datetime(2026, 3, 1, tzinfo=UTC)


class Job:
    """Defers what has the value `slow`; an event of the page `s` is split into two records."""

    def hold(self, message: SourceMessage) -> None:
        """Nothing rests on it here."""

    async def process(self, message: SourceMessage, *, limit_s: float) -> Any:
        if message.value == b"slow":
            return Unfinished(Failure("deadline_exceeded", "slow"))
        record = Record("out", message.key, b"", message.position.headers())
        return replace(record, following=(record,)) if message.key == b"s" else record


def batches_of(*groups: str) -> list[pa.RecordBatch]:
    """An Arrow batch for each group of events, each event by the letter of its page; a capital's is slow, and what
    stands behind a star is late.
    """
    offset, batches = 0, []
    for group in groups:
        pages = [page for page in group if page != "*"]
        late = group.index("*") if "*" in group else len(group)
        messages = [
            replace(
                at(offset + number, page.lower()),
                value=b"slow" if page.isupper() else b"",
                appended=TOO_EARLY if number >= late else WHEN,
            )
            for number, page in enumerate(pages)
        ]
        horizon = pa.array([WHEN] * len(pages), pa.timestamp("us", "UTC"))
        batches.append(source(messages).append_column("horizon", horizon))
        offset += len(pages)
    return batches


@dataclass(frozen=True)
class Case:
    """Offsets of the records that Spark's sink gets, and of those that the task writes."""

    groups: tuple[str, ...]
    by_spark: tuple[int, ...]
    by_task: tuple[int, ...]
    sections: tuple[tuple[str, dict[str, str]], ...] = ()


CASES = {
    "each page once": Case(("abc",), (0, 1, 2), ()),
    "a page twice": Case(("abac",), (1, 3), (0, 2)),
    "more than one batch can hold": Case(("ab", "c"), (), (0, 1, 2)),
    "deferred": Case(("aBAac",), (1, 2, 3, 4), (0,)),
    "without deferral": Case(("aba",), (1,), (0, 2), (("deferral", {"policy": "none"}),)),
    "late": Case(("ab*cc",), (0, 1), (2, 3), (("source", {"read": "aligned", "late": "lapse"}),)),
    "a producer that may give up": Case(("aba",), (0, 1, 2), (), (("sink", {"delivery_timeout": "5s"}),)),
    "split into two records": Case(("as",), (0,), (1, 1)),
    "nothing": Case((), (), ()),
}


def function_of(config: PipelineConfig) -> Any:
    """That of a task of the main lane."""
    if config.deferral.policy == "none":
        return task.enrich(config, workers=1)
    fence = Fence({}, frozenset(), {})
    return task.enrich_around(config, fence, epoch=1, batch=1, workers=1, limit_bytes=5000)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_what_has_an_order_is_written_by_the_task(
    case: Case, make_config: Callable[..., PipelineConfig], work: Work, producer: NotingProducer
) -> None:
    found = work(function_of(make_config(**dict(case.sections))), Job(), *batches_of(*case.groups))
    rows = [row for batch in found for row in batch.to_pylist()]
    by_spark = [offset_of([(header["key"], header["value"]) for header in row["headers"]], row["key"]) for row in rows]
    assert sorted(by_spark) == list(case.by_spark)
    assert [offset_of(one.headers, one.key) for one in producer.records] == list(case.by_task)
    assert all(one.acked for one in producer.sent)


def offset_of(headers: Sequence[tuple[str, bytes]], key: bytes | None) -> int:
    """Of the source event, which an entry of the ledger has in its key."""
    assert key is not None
    return int(dict(headers).get("source-offset", key.split(b"/")[-1]))


PAGES, EVENTS = 3, 12


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
    work: Work,
    producer: NotingProducer,
    batch: dict[str, str],
    of_page: int,
    of_all: int,
    policy: str,
) -> None:
    job = Busy(of_all)
    config = make_config(batch=batch, deferral={"policy": policy})
    messages = source([at(offset, str(offset % PAGES)) for offset in range(EVENTS)])
    assert work(function_of(config), job, messages) == []
    for page in range(PAGES):
        offsets = [offset_of(one.headers, one.key) for one in producer.records if one.key == b"%d" % page]
        assert offsets == list(range(page, EVENTS, PAGES))
    assert (job.of_page, job.of_all) == (of_page, of_all)
