"""The examples of the pages on what a scenario can say: each, put into its page's file, is one that can be played."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from devkit.scenario.load import load_scenario
from devkit.scenario.placeholders import OF_CONFIG, filled
from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from pipeline.config.config_file import load_config
from tests.unit.devkit.traffic.capture.captures import capture_of

DOCS = Path(__file__).parents[2] / "docs"
FILES = {"expecting.md": "expecting.md", "traffic.md": "traffic.md", "scenarios.md": "expecting.md"}
"""Each page, and the page on which the file stands that its examples are put into."""
CAPTURE = "capture.jsonl"


def blocks(page: str) -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```$", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


def is_configuration(block: str) -> bool:
    """Whether an example is a program's own file, and no part of a scenario."""
    return "\njob: " in f"\n{block}"


EXAMPLES = [
    (page, number) for page in FILES for number, block in enumerate(blocks(page)) if not is_configuration(block)
]
CONFIGURATIONS = [block for page in FILES for block in blocks(page) if is_configuration(block)]


def over(below: Mapping[str, Any], example: Mapping[str, Any]) -> dict[str, Any]:
    """The page's file with an example in it; of `expect` and `arms` the example may have one arm alone."""
    merged = {**below, **example}
    for key in ("expect", "arms"):
        merged[key] = {**below[key], **example.get(key, {})}
    return merged


@pytest.mark.parametrize(("page", "number"), EXAMPLES)
def test_can_be_played(page: str, number: int, tmp_path: Path) -> None:
    file, example = (yaml.safe_load(one) for one in (blocks(FILES[page])[0], blocks(page)[number]))
    scenario = tmp_path / "s.yaml"
    capture_of(generate(TrafficSpec.model_validate({"seed": 3, "rate": "20/s", "for": "5s"})), tmp_path / CAPTURE)
    scenario.write_text(yaml.safe_dump(over(file, example), sort_keys=False))
    load_scenario(scenario)


@pytest.mark.parametrize("block", CONFIGURATIONS)
def test_a_programs_own_file_is_one_that_it_takes(block: str, tmp_path: Path) -> None:
    values = {word: f"a-{word.replace('_', '-')}" for word in OF_CONFIG}
    values |= {"bootstrap": "127.0.0.1:1", "checkpoint": str(tmp_path / "checkpoint")}
    values |= dict.fromkeys(("mock", "object_store"), "http://127.0.0.1:2")
    file = tmp_path / "job.yaml"
    file.write_text(*filled([block], values.__getitem__))
    assert load_config(file).job == "html-enrichment"


def test_there_is_one() -> None:
    assert CONFIGURATIONS
