"""The README cannot rot: what it names exists, and what exists is named."""

import re
from pathlib import Path

import pytest

from devkit.expectations import EXPECTATIONS
from devkit.scenario.model import Condition, Scenario

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text()
JUSTFILE = (REPOSITORY / "justfile").read_text()


@pytest.mark.parametrize("name", sorted(EXPECTATIONS))
def test_every_expectation_is_described(name: str) -> None:
    assert re.search(rf"^\| `{name}[`:]", README, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(Condition.model_fields))
def test_every_condition_is_described(name: str) -> None:
    assert f"`{name}`" in README


@pytest.mark.parametrize("name", sorted(Scenario.model_fields))
def test_every_key_of_a_scenario_is_described(name: str) -> None:
    assert re.search(rf"^\| .*`{name}[`.]", README, re.MULTILINE)


def test_every_link_into_the_repository_leads_somewhere() -> None:
    links = [target for target in re.findall(r"\]\(([^)]+)\)", README) if "://" not in target]
    assert links
    assert [target for target in links if not (REPOSITORY / target).exists()] == []


def test_every_recipe_that_is_named_exists() -> None:
    recipes = set(re.findall(r"^([a-z]+)(?: [*a-z]+)*:", JUSTFILE, re.MULTILINE))
    named = set(re.findall(r"\./justw ([a-z]+)", README))
    assert named
    assert named <= recipes


def test_settings_are_read_somewhere() -> None:
    table = README.split("## Settings")[1].split("## How")[0]
    sources = "".join(path.read_text() for path in [REPOSITORY / "justw", *REPOSITORY.glob("devkit/**/*.py")])
    for name in re.findall(r"`([A-Z_]{5,})`", table):
        assert name in sources or name == "TMPDIR", name
