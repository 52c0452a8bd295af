"""What a bootstrap wrote, and what is said of a state. That Spark reads the rows, the integration test shows."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import Row

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import RefusedError
from pipeline.state.decided_by_entity import ENTITY, DecideByEntity
from pipeline.state.initial_state import DIRECTORY, InitialState, require_complete
from pipeline.state.report import (
    StateReport,
    StorePartition,
    document,
    initial_problems,
    lines_of,
    logged_rows,
    problems,
)
from pipeline.state.state_mark import StateMark

# 2026-01-01T00:00:00Z.
INITIAL_STATE = InitialState(entities=10_000, files=2, since_ms=1_767_225_600_000)
BOOTSTRAP_REPORT = StateReport("bootstrap", None, 1234, (StorePartition(0, 6_000), StorePartition(1, 4_000)))
MARK = StateMark(operator="dedupeWithinWatermark", key="id", provider="rocksdb", partitions=2)
FIRST, LAST = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
REPORT = StateReport("dedupeWithinWatermark", 7, 1234, (StorePartition(0, 5, FIRST, LAST), StorePartition(1, 0)))


class Place:
    """A checkpoint with so many files of entities."""

    place = "place"

    def __init__(self, count: int) -> None:
        self._count = count

    def entries(self) -> set[str]:
        return {DIRECTORY}

    def names(self, directory: str = "") -> list[str]:
        return [f"{directory}/{number}" for number in range(self._count)]

    def read(self, name: str) -> bytes:
        raise AssertionError(name)


def test_a_file_too_few_or_too_many_is_a_damage() -> None:
    assert INITIAL_STATE.damages(Place(2)) == []
    for count, words in ((1, "1 file"), (3, "3 files")):
        (damage,) = INITIAL_STATE.damages(Place(count))
        assert damage.startswith(f"initial-state/ holds {words}, and the bootstrap wrote 2: restore it, or bootstrap")


def test_it_is_said_in_words() -> None:
    assert INITIAL_STATE.in_words() == "10,000 entities in 2 files, and the events since 2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("entries", "has_position", "fits"),
    [((), False, True), (("sources", DIRECTORY), True, True), ((DIRECTORY, "job.json"), False, False)],
)
def test_a_bootstrap_has_ended_when_there_is_a_position(
    entries: tuple[str, ...], has_position: bool, fits: bool
) -> None:
    if fits:
        require_complete(entries, "place", has_position=has_position)
        return
    message = "place holds initial-state/ and no position: its bootstrap or copy has not ended"
    with pytest.raises(RefusedError, match=message):
        require_complete(entries, "place", has_position=has_position)


def test_it_is_shown_before_the_first_batch() -> None:
    shown = list(lines_of(BOOTSTRAP_REPORT))
    assert shown[:3] == ["operator    bootstrap", "after batch none: the first one takes it up", "rows        10000"]
    assert json.loads(document(BOOTSTRAP_REPORT))["batch"] is None


def test_rows_are_those_that_were_written() -> None:
    assert initial_problems(BOOTSTRAP_REPORT, INITIAL_STATE) == []
    fewer = StateReport("bootstrap", None, 1, (StorePartition(0, 6_000),))
    (problem,) = initial_problems(fewer, INITIAL_STATE)
    assert problem.startswith("rows: 6000 in initial-state/, 10000 in job.json: restore both from one copy")


def test_an_entity_begins_with_its_revision_and_without_operations(make_config: Callable[..., PipelineConfig]) -> None:
    written: dict[str, Any] = {}

    def variable(name: str, _schema: str) -> Any:
        return SimpleNamespace(update=lambda value: written.update({name: value}))

    operator = DecideByEntity(make_config(job="rdf-decide").model_dump_json(by_alias=True))
    operator.init(SimpleNamespace(getValueState=variable, getListState=variable))  # type: ignore[arg-type]
    operator.handleInitialState(("Q42",), Row(entity="Q42", last=123), None)
    assert written == {ENTITY: (123, 0)}


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
