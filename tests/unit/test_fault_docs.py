"""docs/faults.md cannot rot: what it shows is valid, and it says what each fault on a part proves."""

import re
from pathlib import Path

from pydantic import TypeAdapter
from ruamel.yaml import YAML

from devkit.faults.registry import FAULTS
from devkit.faults.timeline_item import Timeline
from devkit.proxy.kafka.errors import ERRORS
from mockapi.faults.error import CODES, EXCEPTION
from mockapi.rules.model import Rules

TEXT = (Path(__file__).parents[2] / "docs" / "faults.md").read_text()


def test_what_each_fault_on_a_part_proves_is_described() -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", TEXT.split("### What each proves")[1], re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"\w+", row)} == FAULTS.keys()


def test_the_timeline_of_the_example_is_one() -> None:
    block = re.search(r"```yaml\n(timeline:.*?)```", TEXT, re.DOTALL)
    assert block is not None
    items = TypeAdapter(Timeline).validate_python(YAML(typ="safe", pure=True).load(block[1])["timeline"])
    assert [item.do.name for item in items] == ["network_cut", "store_error"]


def test_the_rules_of_the_first_example_are_rules() -> None:
    block = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert block is not None
    assert len(TypeAdapter(Rules).validate_python(YAML(typ="safe", pure=True).load(block[1]))) == 1


def test_mediawiki_s_own_errors_are_those_that_a_rule_can_want() -> None:
    rows = re.findall(
        r"^\| ((?:`\w+`(?:, )?)+) \|", TEXT.split("### MediaWiki's own errors")[1].split("## When")[0], re.MULTILINE
    )
    assert {name for row in rows for name in re.findall(r"\w+", row)} == {*CODES, f"{EXCEPTION}CLASS"}


def test_the_errors_of_kafka_s_protocol_are_those_that_the_proxy_knows() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| ([\d, ]+) \|", TEXT.split("### Kafka's own errors")[1], re.MULTILINE)
    codes = {
        name: int(code)
        for names, numbers in rows
        for name, code in zip(re.findall(r"\w+", names), numbers.split(","), strict=True)
    }
    assert codes == {name: error.code for name, error in ERRORS.items()}
