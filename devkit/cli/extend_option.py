"""`--extend`, for each command that reads what extensions add to."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def _load(_context: click.Context, _option: click.Parameter, written: tuple[str, ...]) -> tuple[str, ...]:
    from devkit.extensions import load_extensions

    load_extensions(written)
    return written


def extend_option(command: F) -> F:
    """Adds `--extend`, the argument `extend`; what it names is loaded before the command begins."""
    return click.option(
        "--extend",
        multiple=True,
        metavar="PATH|MODULE",
        callback=_load,
        is_eager=True,
        help="Load Python of your own that adds a fault, an expectation, a kind of program or a job: a file, or an "
        "importable module.",
    )(command)
