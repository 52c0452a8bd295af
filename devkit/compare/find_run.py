"""The directory of a run, or of several, that a person names: by its path, or as it is called below that of runs."""

from collections.abc import Iterator
from pathlib import Path

from devkit.errors import UsageError
from devkit.report.run_record import RESULT, TIMELINE, RunRecord, read_run
from devkit.report.series_directory import is_series
from located_config.near import nearest


def find_run(text: str, out: Path) -> RunRecord:
    """The run at a path, at `out/PATH`, or the newest of a scenario, `out/NAME`. It has a result.

    Raises UsageError for what is no run, and for one that came to no result.
    """
    for place in (Path(text), out / text):
        if _is_run(place):
            return _with_result(place)
        if below := list(_runs(place)):
            return _with_result(below[-1])
    runs = {scenario.name: [run.name for run in _runs(scenario)] for scenario in _directories(out)}
    names = [name for name, times in runs.items() if times]
    if not names:
        raise UsageError(f"there is no run {text}, and none at all in {out}", hint="name its directory")
    paths = [f"{name}/{time}" for name in names for time in runs[name]]
    near = nearest(text, ["latest", *names, *paths])
    hint = f"did you mean {near}?" if near else f"name a directory, or the newest of one of {', '.join(names)}"
    raise UsageError(f"there is no run {text}", hint=hint)


def find_series(text: str, out: Path) -> Path | None:
    """The directory of several runs at a path, or at `out/PATH`; None for what is none."""
    return next((place for place in (Path(text), out / text) if is_series(place)), None)


def _with_result(directory: Path) -> RunRecord:
    run = read_run(directory)
    if run.result is None:
        why = f"it broke off: {run.broke_off}" if run.broke_off else "it was interrupted, or is not over yet"
        raise UsageError(f"{directory} has no {RESULT} to compare; {why}")
    return run


def _is_run(place: Path) -> bool:
    return (place / TIMELINE).is_file()


def _runs(place: Path) -> Iterator[Path]:
    """Those in a directory, the newest last, as they are named by their time."""
    return filter(_is_run, _directories(place))


def _directories(place: Path) -> Iterator[Path]:
    if place.is_dir():
        yield from sorted(path for path in place.iterdir() if path.is_dir() and not path.is_symlink())
