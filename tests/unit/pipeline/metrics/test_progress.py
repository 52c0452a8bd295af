"""What Spark tells of a batch becomes a line of the log and a figure, and a trigger without a batch neither."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.events import StateCommitted
from pipeline.metrics.progress import Progress, ProgressListener

# As Spark 4.2 writes it, but for what is not read.
TOLD: dict[str, Any] = {
    "batchId": 7,
    "numInputRows": 12,
    "durationMs": {"addBatch": 300, "commitOffsets": 60, "triggerExecution": 450, "walCommit": 50},
    "sources": [
        {
            "startOffset": {"page_change": {"0": 1, "1": 2}},
            "endOffset": {"page_change": {"0": 8, "1": 7}},
            "latestOffset": {"page_change": {"0": 80, "1": 70}},
        }
    ],
}


def read(changes: Any = TOLD, **options: Any) -> Progress:
    progress = Progress.of(TOLD | changes, **options)
    assert progress is not None
    return progress


def test_a_batch_is_read() -> None:
    progress = read()
    assert (progress.batch, progress.rows, progress.commit_ms) == (7, 12, 110)
    assert read(reads={7: 2}.__getitem__).rows == 6, "rows that it reads twice count once"


@pytest.mark.parametrize(
    ("end", "positions"),
    [
        pytest.param({"page_change": {"0": 8, "1": 7}}, [("page_change", 0, 8), ("page_change", 1, 7)], id="one topic"),
        pytest.param(
            {"page_change": {"0": 8}, "page_links": {"0": 3, "1": 4}},
            [("page_change", 0, 8), ("page_links", 0, 3), ("page_links", 1, 4)],
            id="two topics with partitions of the same number",
        ),
        pytest.param('{"page_change":{"0":9}}', [("page_change", 0, 9)], id="JSON in JSON"),
    ],
)
def test_where_a_batch_ends(end: Any, positions: list[tuple[str, int, int]]) -> None:
    source = TOLD["sources"][0] | {"endOffset": end}
    assert read({"sources": [source]}).positions == {(topic, number): at for topic, number, at in positions}


def test_the_state_is_read_where_there_is_one() -> None:
    operator = {
        "operatorName": "dedupeWithinWatermark",
        "numRowsTotal": 50,
        "memoryUsedBytes": 3410808,
        "commitTimeMs": 486,
        "numRowsDroppedByWatermark": 2,
        "customMetrics": {"numDroppedDuplicateRows": 10},
    }
    event_time = {"watermark": "2026-01-01T00:00:09.000Z"}
    assert read({"stateOperators": [operator], "eventTime": event_time}).states == (
        StateCommitted(
            batch=7,
            operator="dedupeWithinWatermark",
            rows=50,
            bytes=3410808,
            commit_ms=486,
            duplicates=10,
            late_dropped=2,
            watermark="2026-01-01T00:00:09.000Z",
        ),
    )
    (without,) = read({"stateOperators": [operator | {"customMetrics": {}}], "eventTime": {}}).states
    assert (without.watermark, without.duplicates) == (None, 0)


def test_a_trigger_without_news_is_no_batch() -> None:
    assert Progress.of(TOLD | {"durationMs": {"latestOffset": 2, "triggerExecution": 3}}) is None


def event(progress: dict[str, Any]) -> Any:
    return SimpleNamespace(progress=SimpleNamespace(json=json.dumps(progress)))


def test_it_is_said_and_told(lines: list[dict[str, Any]]) -> None:
    progresses: list[Progress] = []
    listener = ProgressListener(progresses.append)
    listener.onQueryProgress(event(TOLD))
    listener.onQueryProgress(event(TOLD | {"durationMs": {}}))
    assert [progress.batch for progress in progresses] == [7]
    said = {"event": "batch_committed", "batch": 7, "rows": 12, "durations_ms": TOLD["durationMs"]}
    assert lines == [said]
    ProgressListener().onQueryProgress(event(TOLD))  # which tells no other
    assert lines == [said] * 2
