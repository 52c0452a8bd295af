"""The command line of the kit."""

from devkit.cli.main import cli
from docs.generate.click_page import click_page

_INTRODUCTION = """\
The command line of the kit; after `./justw --setup` it is in `.venv/bin`. `./justw scenario NAME` is
`devkit scenario run NAME`, and [other recipes](recipes.md) are as short. [Exit codes](exit-codes.md) say how a command
ended."""


def devkit_command() -> str:
    """Every command of `devkit`."""
    return click_page(cli, "devkit", _INTRODUCTION)
