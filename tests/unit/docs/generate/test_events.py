"""The pages of events describe every event and every field of it."""

import inspect

import pytest
from pydantic import TypeAdapter

from devkit.observe.timeline.kit_events import KIT_EVENT_CLASSES
from docs.generate.field_docs import field_docs
from docs.generate.log_events import log_events
from docs.generate.run_events import run_events
from pipeline.events import EVENT_CLASSES

EVENTS = {**EVENT_CLASSES, **KIT_EVENT_CLASSES}


@pytest.mark.parametrize("name", EVENTS)
def test_each_event_and_each_of_its_fields_says_what_it_means(name: str) -> None:
    fields = TypeAdapter(EVENTS[name]).json_schema()["properties"].keys() - {"event"}
    assert fields - field_docs(EVENTS[name]).keys() == set()
    assert inspect.cleandoc(EVENTS[name].__doc__ or "")


def test_the_text_of_a_field_stands_in_its_table() -> None:
    assert "| `batch` | Number of the batch in the checkpoint, from 0. | whole number |  |" in log_events()
    assert "| `acted` | Whether its part showed it. | true or false |  |" in run_events()


class Above:
    one: int
    """Of the base."""


class Below(Above):
    """Not a field's."""

    two: int = 2
    """On
    two lines.
    """
    three: int

    def four(self) -> int: ...


def test_texts_are_those_below_fields_of_bases_too() -> None:
    assert field_docs(Below) == {"one": "Of the base.", "two": "On\ntwo lines."}
