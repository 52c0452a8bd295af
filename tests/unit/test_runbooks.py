"""The runbooks: each of their commands is run by a test, and what they name exists.

The tests in tests/integration/runbooks play a page section by section, and a section with all its commands. So it is
enough to know that each section that has some is played, in the page's order.
"""

import ast
import re
from pathlib import Path

import click
import pytest
import yaml

from pipeline.__main__ import main
from pipeline.events import EVENT_CLASSES
from tests.runbook_page import PAGES, RUNBOOKS, Command, sections

REPOSITORY = Path(__file__).parents[2]
PLAYED = REPOSITORY / "tests" / "integration" / "runbooks"
ALERTS = {
    rule["alert"]: rule["annotations"]
    for group in yaml.safe_load((REPOSITORY / "deploy/prometheus/alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
}
SHAPE = ("Symptom", "First check", "Decision", "It is over when", "What can be lost or repeated")

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def played(source: str) -> list[str]:
    """The headings that a test plays, in its order: those of `step("…")`, or of a loop over headings."""
    tree = ast.parse(source)
    named: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step":
            named += node.args
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple):
            named += node.iter.elts
    texts = [one for one in named if isinstance(one, ast.Constant)]
    return [str(one.value) for one in sorted(texts, key=lambda one: (one.lineno, one.col_offset))]


def test_there_are_runbooks() -> None:
    assert len(PAGES) >= 6
    index = (RUNBOOKS / "index.md").read_text()
    assert {page.name for page in PAGES} <= set(re.findall(r"\]\(([\w-]+\.md)\)", index))


@each_page
def test_each_command_runs_in_a_test(page: Path) -> None:
    test = PLAYED / f"test_{page.stem.replace('-', '_')}.py"
    assert test.is_file(), f"no test plays {page.name}"
    source = test.read_text()
    assert f'"{page.name}"' in source
    assert played(source) == [section.heading for section in sections(page.read_text()) if section.parts]
    assert ".finish()" in source


@each_page
def test_commands_stand_where_a_test_finds_them(page: Path) -> None:
    """In blocks of the kinds that are played, below a heading; what prose names is a command that is run as well."""
    text = page.read_text()
    fences = re.findall(r"^```(\w*)$", text, re.MULTILINE)
    assert set(fences) <= {"console", "yaml", ""}, "only these are played"
    assert fences.count("") * 2 == len(fences), "a block of no kind is not played"
    assert sum(len(section.parts) > 0 for section in sections(text)) > 0
    blocks = len(re.findall(r"^```console$", text, re.MULTILINE))
    found = [section for section in sections(text) if "console" in section.languages]
    assert blocks == sum(section.text.count("```console\n") for section in found), "a block above the first heading"
    run = [command.text for section in sections(text) for command in section.commands]
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    named = re.findall(r"`(?:\$ )?(python -m pipeline [^`]+)`", prose)
    assert [name for name in named if not any(command.startswith(name) for command in run)] == []


@each_page
def test_a_page_has_the_shape_that_is_known_at_night(page: Path) -> None:
    headings = [section.heading for section in sections(page.read_text())]
    assert [heading for heading in headings if heading in SHAPE] == list(SHAPE)
    assert (headings[:3], headings[-2:]) == (list(SHAPE[:3]), list(SHAPE[3:]))


@pytest.mark.parametrize("page", [*PAGES, RUNBOOKS / "index.md"], ids=lambda page: page.stem)
def test_alerts_log_lines_and_commands_exist(page: Path) -> None:
    text = page.read_text()
    assert set(re.findall(r"`(Enrichment\w+)`", text)) <= ALERTS.keys()
    assert set(re.findall(r'"event": "(\w+)"', text)) <= EVENT_CLASSES.keys()
    assert set(re.findall(r"line `(\w+)`", text)) <= EVENT_CLASSES.keys()
    commands = main.list_commands(click.Context(main))
    assert [name for name in re.findall(r"python -m pipeline ([a-z-]+)", text) if name not in commands] == []


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_names_the_page_that_says_what_to_do(alert: str) -> None:
    page = ALERTS[alert]["runbook"]
    assert f"`{alert}`" in (REPOSITORY / page).read_text(), f"{page} does not say that it is about {alert}"


def test_what_a_page_shows_is_compared_line_by_line() -> None:
    command = Command("x", ("topic a", "…", "all … 0", "…"))
    assert command.pattern().fullmatch("topic a\nb\nc\nall 7 0\n")
    assert command.pattern().fullmatch("topic a\nall  0\nrest\n")
    for other in ("topic b\nall 7 0\n", "topic a\nall 7 0 1\n", "all 7 0\n", "topic a\n"):
        assert not command.pattern().fullmatch(other), other
    assert Command("x", ()).pattern().fullmatch("")
    assert not Command("x", ()).pattern().fullmatch("something\n")


def test_a_command_that_no_test_runs_is_noticed() -> None:
    page = "# P\n\n## First check\n\n```console\n$ a\nout\n$ b\n```\n\n## New\n\n```console\n$ c\n```\n"
    found = sections(page)
    assert [(section.heading, [one.text for one in section.commands]) for section in found] == [
        ("First check", ["a", "b"]),
        ("New", ["c"]),
    ]
    assert played('operator.step("First check")') != [section.heading for section in found if section.parts]
    assert played('for heading in ("First check", "New"):\n    operator.step(heading)') == ["First check", "New"]
