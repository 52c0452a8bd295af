"""What is said of a state, and what of it is wrong. That Spark reads it so, the integration test shows."""

import json
from dataclasses import replace
from datetime import UTC, datetime

from pipeline.state.report import StateReport, StorePartition, document, lines_of, logged_rows, problems
from pipeline.state.state_mark import StateMark

MARK = StateMark(operator="dedupeWithinWatermark", key="id", provider="rocksdb", partitions=2)
FIRST, LAST = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
REPORT = StateReport("dedupeWithinWatermark", 7, 1234, (StorePartition(0, 5, FIRST, LAST), StorePartition(1, 0)))


def test_a_whole_state_has_no_problem() -> None:
    assert problems(REPORT, MARK, 5) == []
    assert problems(REPORT, MARK, None) == []


def test_each_contradiction_is_named_with_its_remedy() -> None:
    other = MARK.model_copy(update={"operator": "dedupe", "partitions": 3})
    found = problems(REPORT, other, 6)
    assert [text.split(":")[0] for text in found[:2]] == ["operator", "partitions"]
    assert "2 in the state, 3 in job.json: restore" in found[1]
    assert "5 rows after batch 7, and the job's log says 6" in found[2]
    assert "job.json does not say" in problems(REPORT, None, None)[0]


def test_the_log_says_how_many_rows_there_were() -> None:
    logged = [{"event": "state_committed", "batch": batch, "rows": rows} for batch, rows in ((6, 4), (7, 5), (8, 9))]
    lines = ["no json", '{"event": "state_committed", "batch"', *map(json.dumps, logged), '{"event": "stopped"}']
    assert logged_rows(iter(lines), 7) == 5
    assert logged_rows(iter(lines), 9) is None


def test_it_is_shown_as_text_and_as_json() -> None:
    text = "\n".join(lines_of(REPORT))
    assert "rows        5\n" in text
    assert text.splitlines()[-1].split() == ["1", "0", "-", "-"]
    shown = json.loads(document(REPORT))
    assert (shown["rows"], shown["bytes"], shown["batch"]) == (5, 1234, 7)
    assert shown["partitions"][0]["first_expires"] == "2026-01-01T00:00:00+00:00"


def test_of_entities_it_says_how_many_have_events_that_wait() -> None:
    report = replace(REPORT, operator="transformWithStateInPySparkExec", waiting=3)
    assert "waiting     3 entities" in "\n".join(lines_of(report))
    assert json.loads(document(report))["waiting"] == 3
    assert "waiting" not in document(REPORT)
    mark = MARK.model_copy(update={"operator": report.operator})
    assert problems(report, mark, 8) == []
    assert "8 rows after batch 7, and the job's log says 5" in problems(report, mark, 5)[0]
