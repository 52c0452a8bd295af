"""The README cannot rot: what it names exists, and what exists is named."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text()
JUSTFILE = (REPOSITORY / "justfile").read_text()


def test_every_link_into_the_repository_leads_somewhere() -> None:
    links = [target for target in re.findall(r"\]\(([^)]+)\)", README) if "://" not in target]
    assert links
    assert [target for target in links if not (REPOSITORY / target).exists()] == []


def test_every_recipe_that_is_named_exists() -> None:
    recipes = set(re.findall(r"^([a-z]+)(?: [*a-z]+)*:", JUSTFILE, re.MULTILINE))
    named = set(re.findall(r"\./justw ([a-z]+)", README))
    assert named
    assert named <= recipes
