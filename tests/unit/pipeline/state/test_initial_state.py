"""What a bootstrap wrote, as it is shown and taken up. That Spark reads the rows, the integration test shows."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import Row

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import RefusedError
from pipeline.state.decided_by_entity import ENTITY, DecideByEntity
from pipeline.state.initial_state import DIRECTORY, InitialState, require_complete
from pipeline.state.report import StateReport, StorePartition, document, initial_problems, lines_of

# 2026-01-01T00:00:00Z.
MARK = InitialState(entities=10_000, files=2, since_ms=1_767_225_600_000)
REPORT = StateReport("bootstrap", None, 1234, (StorePartition(0, 6_000), StorePartition(1, 4_000)))


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
    assert MARK.damages(Place(2)) == []
    for count, words in ((1, "1 file"), (3, "3 files")):
        (damage,) = MARK.damages(Place(count))
        assert damage.startswith(f"initial-state/ holds {words}, and the bootstrap wrote 2: restore it, or bootstrap")


def test_it_is_said_in_words() -> None:
    assert MARK.in_words() == "10,000 entities in 2 files, and the events since 2026-01-01T00:00:00Z"


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
    shown = list(lines_of(REPORT))
    assert shown[:3] == ["operator    bootstrap", "after batch none: the first one takes it up", "rows        10000"]
    assert json.loads(document(REPORT))["batch"] is None


def test_rows_are_those_that_were_written() -> None:
    assert initial_problems(REPORT, MARK) == []
    fewer = StateReport("bootstrap", None, 1, (StorePartition(0, 6_000),))
    (problem,) = initial_problems(fewer, MARK)
    assert problem.startswith("rows: 6000 in initial-state/, 10000 in job.json: restore both from one copy")


def test_an_entity_begins_with_its_revision_and_without_operations(make_config: Callable[..., PipelineConfig]) -> None:
    written: dict[str, Any] = {}

    def variable(name: str, _schema: str) -> Any:
        return SimpleNamespace(update=lambda value: written.update({name: value}))

    operator = DecideByEntity(make_config(job="rdf-decide").model_dump_json(by_alias=True))
    operator.init(SimpleNamespace(getValueState=variable, getListState=variable))  # type: ignore[arg-type]
    operator.handleInitialState(("Q42",), Row(entity="Q42", last=123), None)
    assert written == {ENTITY: (123, 0)}
