"""A page on a command line that click reads: every command with its usage, help text, arguments and options."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

import click

from docs.generate.markdown import code, in_a_cell, page, prose, table


@dataclass(frozen=True)
class Described:
    """A command that does something, by the words that call it."""

    path: tuple[str, ...]
    command: click.Command

    @property
    def name(self) -> str:
        """As a reader types it, without options and arguments."""
        return " ".join(self.path)


def commands(root: click.Command, program: str) -> Iterator[Described]:
    """All commands below `root`, groups followed; hidden ones are left out. `program` is how `root` is called."""
    yield from _below(root, (program,))


def click_page(root: click.Command, program: str, introduction: str) -> str:
    """The page, a section for each command in the order in which `--help` lists them."""
    return page(code(program), introduction, *(_section(one) for one in commands(root, program)))


def options(command: click.Command) -> list[click.Option]:
    """Those that a help page shows, `--help` aside."""
    return [one for one in command.params if isinstance(one, click.Option) and not one.hidden]


def _below(command: click.Command, path: tuple[str, ...]) -> Iterator[Described]:
    if not isinstance(command, click.Group):
        yield Described(path, command)
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        if found is not None and not found.hidden:
            yield from _below(found, (*path, name))


def _section(one: Described) -> str:
    context = click.Context(one.command, info_name=one.name)
    usage = " ".join([one.name, *_usage(one.command, context)])
    blocks = [f"## {one.name}", f"```text\n{usage}\n```", _help(one.command)]
    rows = [(_names(option), _meaning(option, context)) for option in options(one.command)]
    return "\n\n".join(block for block in [*blocks, table(("option", "what it does"), rows)] if block)


def _usage(command: click.Command, context: click.Context) -> list[str]:
    """What click's own `collect_usage_pieces` gives.

    That one keeps the first `--help` that it makes: a command that is documented before it runs would lack `-h`.
    """
    arguments = [piece for parameter in command.params for piece in parameter.get_usage_pieces(context)]
    return [command.options_metavar or "", *arguments]


def _help(command: click.Command) -> str:
    """Paragraphs; those that click would not wrap (they begin with a backspace character) as they are."""
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(command.help or ""))
    return "\n\n".join(_verbatim(block) if block.startswith("\b") else prose(block) for block in blocks)


def _verbatim(block: str) -> str:
    return "```console\n" + inspect.cleandoc(block.removeprefix("\b\n")) + "\n```"


def _names(option: click.Option) -> str:
    metavar = "" if option.is_flag else f" {option.make_metavar(click.Context(click.Command('')))}"
    both = [*option.opts, *option.secondary_opts]
    return ", ".join(code(f"{name}{metavar}") for name in both)


def _meaning(option: click.Option, context: click.Context) -> str:
    text = in_a_cell(option.help or "")
    default = option.get_default(context)
    notes = []
    if option.required:
        notes.append("Required.")
    if option.multiple:
        notes.append("May be repeated.")
    has_default = isinstance(default, str | int | float | PurePath) and not isinstance(default, bool)
    if has_default and not option.required and "default" not in text.lower():
        notes.append(f"Default: {code(str(default))}.")
    return " ".join([text, *notes])
