"""docs/faults.md cannot rot: every key of the rule language is in it, and what it shows is a rule."""

import re
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from ruamel.yaml import YAML

from devkit.faults.item import Timeline
from devkit.faults.registry import FAULTS as ON_PARTS
from devkit.faults.table import part_fault_table
from mockapi.control.fault_table import fault_table
from mockapi.faults.registry import FAULTS
from mockapi.rules.model import Rule, Rules
from mockapi.rules.when import When

TEXT = (Path(__file__).parents[2] / "docs" / "faults.md").read_text()


def test_the_table_of_faults_is_what_they_say_of_themselves() -> None:
    assert fault_table() in TEXT, "write it again: python -m mockapi faults --markdown docs/faults.md"


def test_the_table_of_faults_on_parts_is_what_they_say_of_themselves() -> None:
    assert part_fault_table() in TEXT, "write it again: python -m devkit.faults.table docs/faults.md"


def test_what_each_fault_on_a_part_proves_is_described() -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", TEXT.split("### What each proves")[1], re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"\w+", row)} == ON_PARTS.keys()


def test_the_timeline_of_the_example_is_one() -> None:
    block = re.search(r"```yaml\n(timeline:.*?)```", TEXT, re.DOTALL)
    assert block is not None
    items = TypeAdapter(Timeline).validate_python(YAML(typ="safe", pure=True).load(block[1])["timeline"])
    assert [item.do.name for item in items] == ["network_cut", "store_error"]


def test_every_key_of_when_is_described() -> None:
    shown = re.findall(r"^\| `(\w+)`", TEXT.split("## When")[1].split("## Do")[0], re.MULTILINE)
    assert shown == list(When.model_fields)


def test_every_other_key_of_a_rule_is_described() -> None:
    shown = re.findall(r"^\| `(\w+)`", TEXT.split("## When")[0], re.MULTILINE)
    assert {"name", "when", "do", *shown} == set(Rule.model_fields)


@pytest.mark.parametrize("name", FAULTS)
def test_the_example_of_a_fault_is_one(name: str) -> None:
    (written,) = re.findall(rf"^\| `({name}: .+?)` \|", TEXT, re.MULTILINE)
    rule = Rule.model_validate({"name": "r", "do": YAML(typ="safe", pure=True).load(written), "ttl": "10s"})
    assert rule.do.has(FAULTS[name])


def test_the_rules_of_the_first_example_are_rules() -> None:
    block = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert block is not None
    assert len(TypeAdapter(Rules).validate_python(YAML(typ="safe", pure=True).load(block[1]))) == 1
