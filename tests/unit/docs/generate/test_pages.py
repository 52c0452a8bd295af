"""The generated pages are what the code says now, and describe every expectation, event and fault."""

import inspect
import re
from typing import Any

import pytest
from pydantic import TypeAdapter
from ruamel.yaml import YAML

from devkit.expectations import Expectation
from devkit.expectations.registry import EXPECTATIONS
from devkit.faults.do import parse_do
from devkit.faults.registry import FAULTS as PART_FAULTS
from devkit.observe.timeline.kit_events import KIT_EVENT_CLASSES
from docs.generate.expectations import expectations
from docs.generate.faults import faults
from docs.generate.field_docs import field_docs
from docs.generate.log_events import log_events
from docs.generate.pages import DIRECTORY, GENERATED, PAGES
from docs.generate.run_events import run_events
from mockapi.faults.registry import FAULTS as MOCK_FAULTS
from mockapi.rules.model import Rule
from pipeline.events import EVENT_CLASSES

PAGE = expectations()
EVENTS = {**EVENT_CLASSES, **KIT_EVENT_CLASSES}
MOCK, PARTS = faults().split("## Faults on parts")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.starts_process("just reads the justfile")
def test_the_page_is_what_the_code_says(name: str) -> None:
    written = (DIRECTORY / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), "stale; write the pages again: python -m docs.generate"


def test_there_are_no_other_pages() -> None:
    there = {path for directory in GENERATED for path in (DIRECTORY / directory).glob("*.md")}
    assert {str(path.relative_to(DIRECTORY)) for path in there} == set(PAGES)


@pytest.mark.parametrize("name", EXPECTATIONS)
def test_an_expectation_is_described_and_its_example_is_one(name: str) -> None:
    kind = EXPECTATIONS[name]
    assert kind.summary.endswith(".")
    Expectation.model_validate(YAML(typ="safe", pure=True).load(f"{name}: {kind.example}"))
    assert f"| `{name}: {kind.example}` |" in PAGE


def test_a_default_is_said() -> None:
    assert "`of`: `all` or `after fault` (default: `all`)" in PAGE
    assert "`of`: `all` or `healthy` (default: `all`)" in PAGE


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


def example(page: str, name: str) -> object:
    (block,) = re.findall(rf"^#+ {name} {{#{name}}}\n.*?```yaml\n(.*?)```", page, re.DOTALL | re.MULTILINE)
    return YAML(typ="safe", pure=True).load(block)["do"]


@pytest.mark.parametrize("name", MOCK_FAULTS)
def test_the_example_of_a_fault_of_the_mock_is_one(name: str) -> None:
    rule = Rule.model_validate({"name": "r", "do": example(MOCK, name), "ttl": "10s"})
    assert rule.do.has(MOCK_FAULTS[name])


@pytest.mark.parametrize("name", PART_FAULTS)
def test_the_example_of_a_fault_on_a_part_is_one(name: str) -> None:
    assert isinstance(parse_do(example(PARTS, name)), PART_FAULTS[name])


def undescribed(schema: dict[str, Any]) -> list[str]:
    """The keys without a description, of the models that a schema defines as well."""
    models = {"": schema, **schema.get("$defs", {})}
    return [
        f"{name}.{key}"
        for name, model in models.items()
        for key, value in model.get("properties", {}).items()
        if not value.get("description")
    ]


@pytest.mark.parametrize(
    "takes",
    [*(fault.takes for fault in MOCK_FAULTS.values()), *PART_FAULTS.values()],
    ids=[*MOCK_FAULTS, *PART_FAULTS],
)
def test_each_parameter_of_a_fault_says_what_it_means(takes: Any) -> None:
    assert undescribed(TypeAdapter(takes).json_schema()) == []


def test_what_depends_on_time_order_or_load_is_marked() -> None:
    marked = re.findall(r"^#### (\w+) {#\w+}\n\n[^\n]*\(\\\*\)$", MOCK, re.MULTILINE)
    assert set(marked) == {name for name, fault in MOCK_FAULTS.items() if not fault.deterministic}
