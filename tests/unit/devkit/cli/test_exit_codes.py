import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devkit.cli.exit_codes import ExitCodes
from devkit.errors import StackError
from devkit.play import run as run_module
from devkit.play.run import FinishedRun
from devkit.report.series_directory import write_series
from tests.unit.devkit.cli.conftest import Devkit
from tests.unit.devkit.report import storm
from tests.unit.devkit.report.conftest import a_good_result
from tests.unit.devkit.report.test_run_series import series_of

Ends = Callable[[int | Exception | type[BaseException]], None]


@pytest.fixture
def ends(scenarios: Path, monkeypatch: pytest.MonkeyPatch) -> Ends:
    """Have runs end with an exit code, or raise."""

    def how(ending: int | Exception | type[BaseException]) -> None:
        def run_scenario(*_: Any, **__: Any) -> FinishedRun:
            if not isinstance(ending, int):
                raise ending
            return FinishedRun(a_good_result().model_copy(update={"exit_code": ending}), Path("runs/now"))

        monkeypatch.setattr(run_module, "run_scenario", run_scenario)

    return how


@pytest.mark.parametrize(("code", "for_bisect"), [(0, 0), (1, 1), (2, 125), (3, 125), (130, 130)])
def test_git_bisect_skips_what_tells_nothing(code: int, for_bisect: int) -> None:
    assert (ExitCodes().of(code), ExitCodes(bisect=True).of(code)) == (code, for_bisect)


@pytest.mark.parametrize(
    ("ending", "code", "for_bisect"),
    [
        (0, 0, 0),
        (1, 1, 1),
        (3, 3, 125),
        (StackError("kafka ended"), 3, 125),
        (RuntimeError("a defect"), 3, 125),
        (KeyboardInterrupt, 130, 130),
    ],
)
def test_of_a_run(
    devkit: Devkit, ends: Ends, ending: int | Exception | type[BaseException], code: int, for_bisect: int
) -> None:
    ends(ending)
    assert devkit("scenario", "run", "an-incident").code == code
    assert devkit("scenario", "run", "an-incident", "--bisect").code == for_bisect


def test_what_a_commit_does_not_know_yet_or_cannot_read_is_skipped(devkit: Devkit, scenarios: Path) -> None:
    assert devkit("scenario", "run", "no-such-scenario", "--bisect").code == 125
    path = scenarios / "an-incident.yaml"
    path.write_text(path.read_text() + "a_key_of_tomorrow: 1\n")
    assert devkit("scenario", "run", "an-incident", "--bisect").code == 125


@pytest.mark.parametrize("arguments", [["--seed", "x"], ["--arm", "left"]])
def test_an_option_that_a_commit_does_not_know_yet_is_skipped(
    devkit: Devkit, scenarios: Path, arguments: list[str]
) -> None:
    assert devkit("scenario", "run", "an-incident", *arguments, "--bisect").code == 125


def test_of_the_newest_run(devkit: Devkit, here: Path) -> None:
    run = storm.write_run(here / "runs" / "a-storm" / "now")
    (here / "runs" / "latest").symlink_to("a-storm/now")
    finished = devkit("report")
    assert (finished.code, finished.out, finished.err) == (0, "runs/latest/report.html\n", "")
    assert "Reproduced and fixed" in (run / "report.html").read_text()


def test_of_another_run_over_an_older_page(devkit: Devkit, here: Path) -> None:
    run = storm.write_run(here / "a run", with_result=False)
    (run / "report.html").write_text("old")
    assert devkit("report", "a run").code == 0
    assert "No verdict" in (run / "report.html").read_text()


def test_of_several_runs(devkit: Devkit, here: Path) -> None:
    write_series(here, series_of(0, 1))
    (here / "report.html").unlink()
    assert devkit("report", str(here)).code == 0
    assert "1 of 2 runs hold" in (here / "report.html").read_text()


def test_two_series_are_compared_and_a_run_with_none(devkit: Devkit, here: Path) -> None:
    for name, codes in (("one", (0, 0)), ("two", (0, 1))):
        directory = here / "runs" / "a-storm" / f"series-{name}"
        directory.mkdir(parents=True)
        write_series(directory, series_of(*codes))
    finished = devkit("compare", "a-storm/series-one", "runs/a-storm/series-two")
    assert finished.code == 0, finished.err
    assert "exit 0, holds         2 of 2 (34% to 100%)  1 of 2 (9% to 91%)" in finished.out
    compared = json.loads(devkit("compare", "a-storm/series-one", "a-storm/series-two", "--json").out)
    assert [one["seed"] for one in compared["seeds"]] == [7, 8]
    refused = devkit("compare", "a-storm/series-one", "a-storm")
    assert refused.code == 2
    assert "runs/a-storm/series-one is of several runs, and a-storm is not\nhint: name two series" in refused.err


def test_where_there_is_no_run(devkit: Devkit, here: Path) -> None:
    finished = devkit("report", str(here))
    assert finished.code == 2
    assert finished.err == (
        f"error: there is no run at {here}\n"
        "hint: a run's directory is runs/NAME/TIME, the newest is runs/latest, both below where the run was started\n"
    )
