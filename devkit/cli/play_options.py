"""The options of each command that plays a scenario: where its run goes, how it is printed, how much slower it is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from devkit.headroom.calibration import MOST

F = TypeVar("F", bound=Callable[..., Any])


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
