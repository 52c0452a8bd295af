"""Which records a task hands to Spark's sink, and which it writes by itself as they must land in their order."""

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
from pipeline.worker.engine import LoopThread
from tests.unit.pipeline.deferral.producing import NotingProducer

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
        offsets = [group.index("*") if "*" in group else len(group)]
        late = offsets[0]
        batches.append(
            pa.RecordBatch.from_pydict(
                {
                    "topic": ["s"] * len(pages),
                    "partition": [0] * len(pages),
                    "offset": range(offset, offset + len(pages)),
                    "key": [page.lower().encode() for page in pages],
                    "value": [b"slow" if page.isupper() else b"" for page in pages],
                    "timestamp": [TOO_EARLY if at >= late else WHEN for at in range(len(pages))],
                    "horizon": [WHEN] * len(pages),
                }
            )
        )
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


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_what_has_an_order_is_written_by_the_task(
    case: Case,
    make_config: Callable[..., PipelineConfig],
    loop_thread: LoopThread,
    monkeypatch: pytest.MonkeyPatch,
    in_time: Callable[..., Any],
    producer: NotingProducer,
) -> None:
    monkeypatch.setattr(task, "_loop_thread", lambda: loop_thread)
    monkeypatch.setattr(task, "_job", lambda *_: Job())
    monkeypatch.setattr(task, "task_attempt", lambda: 1)
    config = make_config(**dict(case.sections))
    if config.deferral.policy == "none":
        function = task.enrich(config, workers=1)
    else:
        fence = Fence({}, frozenset(), {})
        function = task.enrich_around(config, fence, epoch=1, batch=1, workers=1, limit_bytes=5000)
    found = in_time(lambda: list(function(iter(batches_of(*case.groups)))))
    rows = [row for batch in found for row in batch.to_pylist()]
    by_spark = [offset_of([(header["key"], header["value"]) for header in row["headers"]], row["key"]) for row in rows]
    assert sorted(by_spark) == list(case.by_spark)
    assert [offset_of(one.headers, one.key) for one in producer.records] == list(case.by_task)
    assert all(one.acked for one in producer.sent)


def offset_of(headers: Sequence[tuple[str, bytes]], key: bytes | None) -> int:
    """Of the source event, which an entry of the ledger has in its key."""
    assert key is not None
    return int(dict(headers).get("source-offset", key.split(b"/")[-1]))
