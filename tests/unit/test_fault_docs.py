"""docs/faults.md cannot rot: every key of the rule language is in it, and what it shows is a rule."""

import re
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from ruamel.yaml import YAML

from mockapi.faults.registry import FAULTS
from mockapi.rules.model import Rule, Rules
from mockapi.rules.when import When

TEXT = (Path(__file__).parents[2] / "docs" / "faults.md").read_text()
ROWS = {match[1]: match[2] for match in re.finditer(r"^\| `(\w+)(?:: (.+?))?` \|(.*)$", TEXT, re.MULTILINE)}
DESCRIPTIONS = {match[1]: match[2] for match in re.finditer(r"^\| `(\w+)[^|]*?` \|(.*)$", TEXT, re.MULTILINE)}


def test_every_fault_is_described_and_no_other() -> None:
    shown = re.findall(r"^\| `(\w+)", TEXT.split("## Do")[1], re.MULTILINE)
    assert sorted(shown) == sorted(FAULTS)


def test_every_key_of_when_is_described() -> None:
    shown = re.findall(r"^\| `(\w+)`", TEXT.split("## When")[1].split("## Do")[0], re.MULTILINE)
    assert shown == list(When.model_fields)


def test_every_other_key_of_a_rule_is_described() -> None:
    shown = re.findall(r"^\| `(\w+)`", TEXT.split("## When")[0], re.MULTILINE)
    assert {"name", "when", "do", *shown} == set(Rule.model_fields)


@pytest.mark.parametrize("name", FAULTS)
def test_the_example_of_a_fault_is_one(name: str) -> None:
    written = ROWS[name]
    assert written is not None
    value = YAML(typ="safe", pure=True).load(f"{name}: {written.replace('…', 'x')}")
    rule = Rule.model_validate({"name": "r", "do": value, "ttl": "10s"})
    assert getattr(rule.do, name) is not None


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_outside_the_promise_is_marked(name: str) -> None:
    marked = DESCRIPTIONS[name].rstrip().rstrip("|").rstrip().endswith("(*)")
    # `replica_lag` is within it in one of its forms.
    assert marked is (not FAULTS[name].promised or name == "replica_lag")


def test_the_rules_of_the_first_example_are_rules() -> None:
    block = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert block is not None
    assert len(TypeAdapter(Rules).validate_python(YAML(typ="safe", pure=True).load(block[1]))) == 1
