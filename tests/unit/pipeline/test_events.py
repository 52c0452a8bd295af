"""The contract between what a pipeline says and who reads its log."""

import dataclasses
import json
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from pipeline.events import (
    BatchStarted,
    BreakerProbe,
    Failed,
    MetricsServed,
    OffsetsRead,
    PipelineEvent,
    Started,
    Waiting,
    fields_of,
)

READ: TypeAdapter[Any] = TypeAdapter(PipelineEvent)
CLASSES = get_args(get_args(PipelineEvent)[0])
VALUES: dict[str, Any] = {
    "OffsetsRead": (OffsetsRead("source", 0, 7, 9),),
    "Literal['producer'": "source topic",
    "Literal['batch'": "planning",
    "Literal['store'": "store",
    "Literal": "wiki",
    "Mapping": {"key": 3},
    "tuple": ("x",),
    "str": "x",
    "int": 3,
    "float": 1.5,
    "bool": True,
}


def an_event(kind: type[Any]) -> Any:
    """One with all its fields, by their types."""
    hints = {field.name: str(field.type) for field in dataclasses.fields(kind) if field.name != "event"}
    return kind(**{name: next(value for part, value in VALUES.items() if part in hint) for name, hint in hints.items()})


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_what_is_said_is_read_as_the_same(kind: type[Any]) -> None:
    event = an_event(kind)
    line = json.dumps({"at": "2026-11-22T10:00:00Z", "event": event.event} | fields_of(event))
    assert READ.validate_json(line, strict=True) == event


def test_each_has_a_name_of_its_own() -> None:
    names = [dataclasses.fields(kind)[0].default for kind in CLASSES]
    assert len(set(names)) == len(CLASSES) > 1


def test_what_may_be_left_out_is_where_there_is_nothing_to_say() -> None:
    probe = BreakerProbe(grain="wiki", wiki="enwiki", path="/x", answer="status 200", healthy=True)
    fields = {"grain": "wiki", "wiki": "enwiki", "path": "/x", "answer": "status 200", "healthy": True}
    assert fields_of(probe) == fields
    waiting = {"batch": 7, "reason": "full", "entries": 4, "bytes": 9}
    assert fields_of(Waiting(**waiting)) == waiting  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ({"event": "started"}, Started()),
        ({"event": "batch_started", "batch": 7}, BatchStarted(batch=7)),
        ({"event": "failed", "error": "too large"}, Failed(error="too large")),
        (
            {"event": "metrics", "url": "http://127.0.0.1:9410/metrics"},
            MetricsServed(url="http://127.0.0.1:9410/metrics"),
        ),
    ],
)
def test_another_program_may_say_no_more_than_this(line: dict[str, Any], event: object) -> None:
    """As `docs/own-pipeline.md` promises."""
    assert READ.validate_json(json.dumps(line), strict=True) == event


@pytest.mark.parametrize(
    "line",
    [
        {"event": "nothing known"},
        {"event": "batch_started"},
        {"event": "batch_started", "batch": "7"},
        {"event": "failed"},
    ],
)
def test_what_is_no_event_of_a_pipeline_is_told_from_one(line: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        READ.validate_json(json.dumps(line), strict=True)
