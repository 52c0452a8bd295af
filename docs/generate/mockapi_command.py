"""The command line of the mock, which argparse reads."""

import argparse

from docs.generate.markdown import code, in_a_cell, page, table
from mockapi.__main__ import command_line as serve
from mockapi.faults_command import command_line as faults

_INTRODUCTION = """\
Serves [the mock MediaWiki](../mock.md) until it gets SIGTERM or SIGINT. `./justw mock` is `python -m mockapi`."""


def mockapi_command() -> str:
    """Both commands of `python -m mockapi`."""
    return page(
        code("python -m mockapi"),
        _INTRODUCTION,
        _section("python -m mockapi", serve()),
        _section("python -m mockapi faults", faults()),
    )


def actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """What the parser takes, `--help` aside."""
    return [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]  # noqa: SLF001


def _section(name: str, parser: argparse.ArgumentParser) -> str:
    rows = [(_names(action), _meaning(action)) for action in actions(parser)]
    texts = [in_a_cell(text) for text in (parser.description, parser.epilog) if text]
    return "\n\n".join([f"## {name}", *texts, table(("option", "what it does"), rows)])


def _names(action: argparse.Action) -> str:
    metavar = action.metavar if isinstance(action.metavar, str) else (action.dest.upper())
    if not action.option_strings:
        return code(metavar)
    value = "" if action.nargs == 0 else f" {metavar}"
    return ", ".join(code(f"{name}{value}") for name in action.option_strings)


def _meaning(action: argparse.Action) -> str:
    text = in_a_cell(action.help or "")
    return text.replace("(default: %(default)s)", f"(default: {code(str(action.default))})")
