"""What Spark tells of a batch becomes a line of the log and a figure, and a trigger without a batch neither."""

import json
from types import SimpleNamespace
from typing import Any

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


def test_a_batch_is_read() -> None:
    progress = Progress.of(TOLD)
    assert progress is not None
    assert (progress.batch, progress.rows, progress.commit_ms) == (7, 12, 110)
    assert progress.positions == {("page_change", 0): 8, ("page_change", 1): 7}


def test_rows_that_a_batch_reads_twice_count_once() -> None:
    progress = Progress.of(TOLD, reads={7: 2}.__getitem__)
    assert progress is not None
    assert progress.rows == 6


def test_two_topics_with_partitions_of_the_same_number_do_not_overwrite_each_other() -> None:
    source = TOLD["sources"][0] | {"endOffset": {"page_change": {"0": 8}, "page_links": {"0": 3, "1": 4}}}
    progress = Progress.of(TOLD | {"sources": [source]})
    assert progress is not None
    assert progress.positions == {("page_change", 0): 8, ("page_links", 0): 3, ("page_links", 1): 4}


def test_offsets_may_be_json_in_json() -> None:
    source = TOLD["sources"][0] | {"endOffset": '{"page_change":{"0":9}}'}
    progress = Progress.of(TOLD | {"sources": [source]})
    assert progress is not None
    assert progress.positions == {("page_change", 0): 9}


def test_the_state_is_read_where_there_is_one() -> None:
    operator = {
        "operatorName": "dedupeWithinWatermark",
        "numRowsTotal": 50,
        "memoryUsedBytes": 3410808,
        "commitTimeMs": 486,
        "numRowsDroppedByWatermark": 2,
        "customMetrics": {"numDroppedDuplicateRows": 10},
    }
    progress = Progress.of(
        TOLD | {"stateOperators": [operator], "eventTime": {"watermark": "2026-01-01T00:00:09.000Z"}}
    )
    assert progress is not None
    assert progress.states == (
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
    without = Progress.of(TOLD | {"stateOperators": [operator | {"customMetrics": {}}], "eventTime": {}})
    assert without is not None
    assert (without.states[0].watermark, without.states[0].duplicates) == (None, 0)


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
    assert lines == [{"event": "batch_committed", "batch": 7, "rows": 12, "durations_ms": TOLD["durationMs"]}]


def test_nobody_has_to_be_told(lines: list[dict[str, Any]]) -> None:
    ProgressListener().onQueryProgress(event(TOLD))
    assert [line["event"] for line in lines] == ["batch_committed"]
