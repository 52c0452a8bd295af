"""The page of faults has each of them, with an example that is valid."""

import re
from typing import Any

import pytest
from pydantic import TypeAdapter
from ruamel.yaml import YAML

from devkit.faults.do import parse_do
from devkit.faults.registry import FAULTS as PART_FAULTS
from docs.generate.faults import faults
from mockapi.faults.registry import FAULTS as MOCK_FAULTS
from mockapi.rules.model import Rule

MOCK, PARTS = faults().split("## Faults on parts")


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


@pytest.mark.parametrize("name", MOCK_FAULTS)
def test_each_parameter_of_a_fault_of_the_mock_says_what_it_means(name: str) -> None:
    assert undescribed(TypeAdapter(MOCK_FAULTS[name].takes).json_schema()) == []


@pytest.mark.parametrize("name", PART_FAULTS)
def test_each_parameter_of_a_fault_on_a_part_says_what_it_means(name: str) -> None:
    assert undescribed(PART_FAULTS[name].model_json_schema()) == []


def test_what_depends_on_time_order_or_load_is_marked() -> None:
    marked = re.findall(r"^#### (\w+) {#\w+}\n\n[^\n]*\(\\\*\)$", MOCK, re.MULTILINE)
    assert set(marked) == {name for name, fault in MOCK_FAULTS.items() if not fault.deterministic}
