"""The README cannot rot: what it names exists, and what exists is named."""

import re
from pathlib import Path

from tests.readme_sample import missing_from, sample

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
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


def test_it_is_short_enough_to_be_read() -> None:
    assert len(README.encode()) <= 6.5 * 1024


def test_scenarios_are_all_named() -> None:
    shipped = {path.stem for path in (REPOSITORY / "scenarios").glob("*.yaml")}
    assert shipped
    assert {name for name in shipped if f"[`{name}`](docs/incidents/{name}.md)" not in README} == set()
    table = (REPOSITORY / "docs" / "incidents.md").read_text(encoding="utf-8")
    assert {name for name in shipped if f"| [`{name}`](incidents/{name}.md) |" not in table} == set()


def test_its_output_may_have_other_figures_but_no_other_words() -> None:
    parts = sample()
    assert len(parts) >= 2
    assert missing_from("\n…\n".join(parts).replace("161", "77").replace(" ", "\n  ")) == []
    assert missing_from("\n".join(parts).replace("restart", "start anew")) != []
    assert missing_from("\n".join(reversed(parts))) != []
