"""Every command and every option says what it does, in a text that stands alone."""

import argparse

import click
import pytest

from devkit.cli.main import cli
from docs.generate.click_page import Described, click_page, commands, options
from docs.generate.mockapi_command import actions
from mockapi.__main__ import command_line as mock_command_line
from mockapi.faults_command import command_line as faults_command_line
from pipeline.__main__ import main as pipeline_cli

UNFINISHED = ("Of ", "Without ", "As ", "Its ", "It ", "The same", "How ", "Where ", "What it ", "A file;")
COMMANDS = [*commands(cli, "devkit"), *commands(pipeline_cli, "python -m pipeline")]


def stands_alone(text: str | None) -> bool:
    """Whether a help text can be read without the name of its option, as far as its form shows that."""
    return text is not None and text.endswith(".") and text[0].isupper() and not text.startswith(UNFINISHED)


@pytest.mark.parametrize("one", COMMANDS, ids=lambda one: one.name)
def test_a_command_says_what_it_does(one: Described) -> None:
    assert one.command.help
    assert one.command.help.split("\n\n")[0].strip().endswith(".")


@pytest.mark.parametrize("one", COMMANDS, ids=lambda one: one.name)
def test_every_option_says_what_it_does(one: Described) -> None:
    assert [option.name for option in options(one.command) if not stands_alone(option.help)] == []


@pytest.mark.parametrize("parser", [mock_command_line(), faults_command_line()], ids=lambda parser: parser.prog)
def test_every_option_of_the_mock_says_what_it_does(parser: argparse.ArgumentParser) -> None:
    assert actions(parser)
    assert [action.dest for action in actions(parser) if not stands_alone(action.help)] == []


def test_a_page_has_the_commands_of_groups_and_no_hidden_ones() -> None:
    @click.group()
    def root() -> None: ...

    @root.group()
    def inner() -> None: ...

    @inner.command()
    @click.argument("name")
    @click.option("--rate", metavar="N|M", default=5, help="Events per second.")
    @click.option("--quiet", is_flag=True, help="No output.")
    @click.option("--secret", hidden=True)
    def replay(name: str) -> None:
        """Send NAME.

        Again.
        """

    @root.command(hidden=True)
    def concealed() -> None: ...

    text = click_page(root, "program", "What it is.")
    assert (
        "## program inner replay\n\n```text\nprogram inner replay [OPTIONS] NAME\n```\n\nSend NAME.\n\nAgain." in text
    )
    assert "| `--rate N\\|M` | Events per second. Default: `5`. |\n| `--quiet` | No output. |" in text
    assert "secret" not in text
    assert "concealed" not in text
