"""The directory of several runs of a scenario, beside those of the runs: `series.json` and `report.html`."""

from pathlib import Path

from pydantic import ValidationError

from devkit.errors import UsageError
from devkit.report.page.page import render_series
from devkit.report.run_reports import REPORT, write_whole
from devkit.report.run_series import Series
from located_config.problem import in_line

SERIES = "series.json"


def write_series(directory: Path, series: Series) -> None:
    """Replaces each file as a whole: what was played is there also when the next run never ends."""
    write_whole(directory / SERIES, series.model_dump_json(indent=2) + "\n")
    write_whole(directory / REPORT, render_series(series))


def is_series(place: Path) -> bool:
    """Whether it is the directory of one."""
    return (place / SERIES).is_file()


def read_series(directory: Path) -> Series:
    """Raises UsageError where there is none that this version can read."""
    file = directory / SERIES
    try:
        return Series.model_validate_json(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}", hint="`--runs N` writes one") from error
    except ValidationError as error:
        raise UsageError(
            f"{file} was written by another version of the kit: {in_line(error, Series)}",
            hint="read it with the version that wrote it",
        ) from error


def runs_of(directory: Path) -> tuple[Path, ...]:
    """The directories of its runs, also where the directory of all runs was moved; some may be gone."""
    return tuple(directory.parent / run.run_name for run in read_series(directory).runs if run.run_name)
