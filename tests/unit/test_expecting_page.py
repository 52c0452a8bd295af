"""The examples of the pages on what a scenario can say: each, put into its page's file, is one that can be played."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from devkit.scenario.load import load_scenario
from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from tests.unit.devkit.traffic.capture.captures import capture_of

DOCS = Path(__file__).parents[2] / "docs"
FILES = {"expecting.md": "expecting.md", "traffic.md": "traffic.md", "scenarios.md": "expecting.md"}
"""Each page, and the page on which the file stands that its examples are put into."""
CAPTURE = "capture.jsonl"


def blocks(page: str) -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```$", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


EXAMPLES = [(page, number) for page in FILES for number in range(len(blocks(page)))]


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
