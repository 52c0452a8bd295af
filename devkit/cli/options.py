"""Options that several commands share, and the values that they give."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import click

from devkit.errors import UsageError
from devkit.headroom.calibration import MOST
from located_config.duration import parse_duration
from located_config.quantity import QuantityError
from located_config.size import parse_size

STACKS = ("embedded", "compose", "testcontainers", "external")
"""The names in `devkit.stack.registry`, without the time that it takes to import the stacks."""

F = TypeVar("F", bound=Callable[..., Any])

set_option = click.option(
    "--set",
    "written",
    multiple=True,
    metavar="PLACE=VALUE",
    help="Replace a value of the file, for example arms.fixed.batch.max_offsets=100; may be repeated. PLACE is the "
    "path to the value, as error messages name it; VALUE is YAML.",
)


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


def stack_options(command: F) -> F:
    """Adds `--stack` and `--addresses`."""
    for option in (
        click.option(
            "--addresses",
            type=click.Path(path_type=Path, dir_okay=False),
            help="YAML file with the addresses of `--stack external`. Default: the environment variables "
            "`DEVKIT_KAFKA`, `DEVKIT_S3_ENDPOINT` and `DEVKIT_MOCK_API`.",
        ),
        click.option(
            "--stack",
            "backend",
            type=click.Choice(STACKS),
            default=STACKS[0],
            show_default=True,
            help="What runs Kafka, object store and mock API: local processes (`embedded`), containers (`compose`, "
            "`testcontainers`), or servers of your own that already run (`external`).",
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


def play_options(command: F) -> F:
    """Adds `--out`, `--json`, `--plain` and `--stretch`."""
    for option in (
        click.option(
            "--stretch",
            type=click.IntRange(1, MOST),
            metavar="N",
            help="Multiply every duration of the scenario by N and divide every rate by it. Default: by a "
            "short calibration, 1 on an idle machine; a run that was short of time is then played again.",
        ),
        click.option("--plain", is_flag=True, help="Print plain lines on a terminal too, instead of the live view."),
        click.option(
            "--json",
            "as_json",
            is_flag=True,
            help="Print result.json on standard output, and all else on standard error.",
        ),
        click.option(
            "--out",
            type=click.Path(path_type=Path),
            default=Path("runs"),
            show_default=True,
            help="Directory that runs are written to.",
        ),
    ):
        command = option(command)
    return command


def duration_of(option: str, text: str) -> timedelta:
    """Raises UsageError, which names the option."""
    try:
        return parse_duration(text)
    except QuantityError as error:
        raise UsageError(f"{option}: {error}") from error


def size_of(option: str, text: str) -> int:
    """The size in bytes. Raises UsageError, which names the option."""
    try:
        return parse_size(text)
    except QuantityError as error:
        raise UsageError(f"{option}: {error}") from error
