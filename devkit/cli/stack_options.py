"""`--stack` and what goes with it, for each command that starts one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from devkit.errors import UsageError

STACKS = ("embedded", "compose", "testcontainers", "external")
"""The names in `devkit.stack.registry`, without the time that it takes to import the stacks."""

F = TypeVar("F", bound=Callable[..., Any])


def stack_options(command: F) -> F:
    """Adds `--stack` and `--addresses`."""
    for option in (
        click.option(
            "--addresses",
            type=click.Path(path_type=Path, dir_okay=False),
            help="YAML file with the addresses of `--stack external`; by default they come from the environment.",
        ),
        click.option(
            "--stack",
            "backend",
            type=click.Choice(STACKS),
            default=STACKS[0],
            show_default=True,
            help="What runs Kafka, object store and mock API.",
        ),
    ):
        command = option(command)
    return command


def require_addresses_fit(backend: str, addresses: Path | None) -> None:
    """Raises UsageError for addresses that no stack would read."""
    if addresses is not None and backend != "external":
        raise UsageError(
            f"--addresses is for a stack that is there already, and --stack {backend} starts its own",
            hint="add --stack external",
        )
