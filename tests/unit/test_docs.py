"""The documents cannot rot: what they name exists, what exists is named, and their examples are valid."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from markdown import Markdown
from pydantic import TypeAdapter
from ruamel.yaml import YAML

from devkit.cli.exit_codes import ExitCodes
from devkit.cli.main import cli
from devkit.faults.registry import FAULTS
from devkit.faults.timeline_item import Timeline
from devkit.proxy.kafka.errors import ERRORS
from devkit.report.run_reports import JOB_SUMMARY_VARIABLE, JUNIT, REPORT, SUMMARY
from devkit.scenario.load import load_scenario
from devkit.scenario.placeholders import OF_CONFIG, filled
from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from mockapi.faults.error import CODES, EXCEPTION
from mockapi.rules.model import Rule, Rules
from pipeline.config.config_file import load_config
from tests.readme_sample import missing_from, sample
from tests.unit.devkit.traffic.capture.captures import capture_of

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
PAGES = sorted(DOCS.glob("*.md"))
ALL_PAGES = sorted(DOCS.rglob("*.md"))
ROOMS = ("devkit", "located_config", "mockapi", "pipeline", "tests")
RECIPES = set(re.findall(r"^([a-z-]+)(?: [*a-z]+)*:", (REPOSITORY / "justfile").read_text(), re.MULTILINE))
# A recipe that hands its arguments on to a command takes that command's options.
BEHIND = {
    "scenarios": ("scenario", "list"),
    "scenario": ("scenario", "run"),
    "check": ("scenario", "check"),
    "new": ("scenario", "new"),
}
# Recipes behind which there is no command of devkit.
OTHERS = {
    "bench",
    "docs",
    "mock",
    "mutants",
    "verdicts",
    "conformance",
    "lint",
    "lock",
    "test",
    "test-more",
    "test-all",
}
FAULTS_PAGE = (DOCS / "faults.md").read_text()
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
JUSTFILE = (REPOSITORY / "justfile").read_text()
FILES = {"expecting.md": "expecting.md", "traffic.md": "traffic.md", "scenarios.md": "expecting.md"}
"""Each page, and the page on which the file stands that its examples are put into."""
CAPTURE = "capture.jsonl"


def command(*names: str) -> click.Command | None:
    """The deepest command that the words name."""
    found: click.Command = cli
    for name in names:
        if not isinstance(found, click.Group):
            break
        if name not in found.commands:
            return None
        found = found.commands[name]
    return None if found is cli else found


def options(of: click.Command) -> set[str]:
    return {name for parameter in of.params for name in (*parameter.opts, *parameter.secondary_opts)}


@cache
def anchors(page: Path) -> frozenset[str]:
    """What can be linked to in a page."""
    rendered = Markdown(extensions=["attr_list", "tables", "toc", "pymdownx.superfences"])
    html = rendered.convert(page.read_text())
    return frozenset(re.findall(r' id="([^"]+)"', html))


def leads_somewhere(page: Path, target: str) -> bool:
    file, _, anchor = target.partition("#")
    there = (page.parent / file).resolve() if file else page
    return there.is_relative_to(DOCS) and there.exists() and (not anchor or anchor in anchors(there))


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.stem)
def test_links_lead_to_a_page_and_an_anchor_of_it(page: Path) -> None:
    links = [target for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()) if "://" not in target]
    assert [target for target in links if not leads_somewhere(page, target)] == []


def test_every_page_has_its_place_in_the_index_of_the_site() -> None:
    def files(entries: object) -> Iterator[str]:
        if isinstance(entries, str):
            yield entries
        elif isinstance(entries, list | dict):
            for entry in entries.values() if isinstance(entries, dict) else entries:
                yield from files(entry)

    listed = list(files(yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text())["nav"]))
    assert len(listed) == len(set(listed))
    assert set(listed) == {str(page.relative_to(DOCS)) for page in ALL_PAGES}


def command_lines(page: Path) -> list[tuple[str, str]]:
    """The program and what follows it, to the line's end."""
    return re.findall(r"(\./justw|\bdevkit) ([a-z][\w -]*.*)", page.read_text())


def test_most_pages_name_commands() -> None:
    assert sum(bool(command_lines(page)) for page in PAGES) > len(PAGES) / 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_their_options_exist(page: Path) -> None:
    for program, words in command_lines(page):
        first = words.split("`")[0].split()
        if program == "./justw":
            assert first[0] in RECIPES, first
            if first[0] in OTHERS:
                continue
            first = [*BEHIND.get(first[0], first[:1]), *first[1:]]
        found = command(*first)
        assert found is not None, first
        assert {word for word in first if re.fullmatch(r"--[a-z-]+", word)} <= options(found), first


@pytest.mark.parametrize("page", [*PAGES, DOCS / "github-workflow.yml"], ids=lambda page: page.name)
def test_scenarios_exist(page: Path) -> None:
    text = page.read_text()
    named = set(re.findall(r"justw scenario ([a-z][\w-]*)", text))
    for several in re.findall(r"(?:SCENARIO|scenario): \[(.+?)\]", text, re.DOTALL):
        listed = set(re.split(r",\s+", several.strip()))
        assert listed == {path.stem for path in (REPOSITORY / "scenarios").glob("*.yaml")}, "all of them"
        named |= listed
    assert {name for name in named if not (REPOSITORY / "scenarios" / f"{name}.yaml").exists()} == set()


def test_settings_are_read_somewhere() -> None:
    readers = [REPOSITORY / "justw", *(path for room in ROOMS for path in (REPOSITORY / room).rglob("*.py"))]
    sources = "".join(path.read_text() for path in readers)
    named = re.findall(r"`([A-Z_]{5,}[A-Z0-9_]*)`", (DOCS / "settings.md").read_text())
    assert named
    assert [name for name in named if name not in sources and name not in ("PATH", "TMPDIR")] == []


def test_the_workflow_is_one() -> None:
    workflow = yaml.safe_load((DOCS / "github-workflow.yml").read_text())
    (job,) = workflow["jobs"].values()
    steps = job["steps"]
    assert all(set(step) & {"uses", "run"} for step in steps)
    assert [step["run"] for step in steps if "run" in step] == ["./justw scenario ${{ matrix.scenario }}"]
    (upload,) = [step for step in steps if step.get("uses", "").startswith("actions/upload-artifact@")]
    assert upload["if"] == "always()"
    assert workflow["permissions"] == {"contents": "read"}


def test_what_a_job_can_keep_is_what_a_run_writes() -> None:
    text = (DOCS / "ci.md").read_text()
    assert {REPORT, JUNIT, SUMMARY, "result.json"} == set(re.findall(r"^\| `([\w.]+)` \|", text, re.MULTILINE))
    assert JOB_SUMMARY_VARIABLE in text


def test_the_codes_for_a_bisection_are_those_of_the_program() -> None:
    rows = re.findall(r"^\| (\d+) .*\| (\d+) \| \w+ \|$", (DOCS / "bisect.md").read_text(), re.MULTILINE)
    assert [(int(code), int(with_bisect)) for code, with_bisect in rows] == [
        (code, ExitCodes(bisect=True).of(code)) for code in (0, 1, 2, 3, 130)
    ]


def test_the_scenario_of_the_tutorial_is_valid(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", (DOCS / "tutorial.md").read_text(), re.MULTILINE | re.DOTALL)
    file = tmp_path / "flaky-wiki.yaml"
    file.write_text(text)
    assert load_scenario(file).name == "flaky-wiki"


def test_the_faults_that_are_shown_by_task_exist() -> None:
    shown = re.findall(r"`do: ({.*?})`", (DOCS / "scenarios.md").read_text())
    assert len(shown) > 3
    for do in shown:
        Rule.model_validate({"name": "r", "do": yaml.safe_load(do)})


def test_what_each_fault_on_a_part_proves_is_described() -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", FAULTS_PAGE.split("### What each proves")[1], re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"\w+", row)} == FAULTS.keys()


def test_the_timeline_of_the_example_is_one() -> None:
    block = re.search(r"```yaml\n(timeline:.*?)```", FAULTS_PAGE, re.DOTALL)
    assert block is not None
    items = TypeAdapter(Timeline).validate_python(YAML(typ="safe", pure=True).load(block[1])["timeline"])
    assert [item.do.name for item in items] == ["network_cut", "store_error"]


def test_the_rules_of_the_first_example_are_rules() -> None:
    block = re.search(r"```yaml\n(.*?)```", FAULTS_PAGE, re.DOTALL)
    assert block is not None
    assert len(TypeAdapter(Rules).validate_python(YAML(typ="safe", pure=True).load(block[1]))) == 1


def test_mediawiki_s_own_errors_are_those_that_a_rule_can_want() -> None:
    rows = re.findall(
        r"^\| ((?:`\w+`(?:, )?)+) \|",
        FAULTS_PAGE.split("### MediaWiki's own errors")[1].split("## When")[0],
        re.MULTILINE,
    )
    assert {name for row in rows for name in re.findall(r"\w+", row)} == {*CODES, f"{EXCEPTION}CLASS"}


def test_the_errors_of_kafka_s_protocol_are_those_that_the_proxy_knows() -> None:
    rows = re.findall(
        r"^\| ((?:`\w+`(?:, )?)+) \| ([\d, ]+) \|", FAULTS_PAGE.split("### Kafka's own errors")[1], re.MULTILINE
    )
    codes = {
        name: int(code)
        for names, numbers in rows
        for name, code in zip(re.findall(r"\w+", names), numbers.split(","), strict=True)
    }
    assert codes == {name: error.code for name, error in ERRORS.items()}


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
