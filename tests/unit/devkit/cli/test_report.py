import json
from pathlib import Path

from devkit.report.series_directory import write_series
from tests.unit.devkit.cli.conftest import Devkit
from tests.unit.devkit.report import storm
from tests.unit.devkit.report.test_run_series import of


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
    write_series(here, of(0, 1))
    (here / "report.html").unlink()
    assert devkit("report", str(here)).code == 0
    assert "1 of 2 runs hold" in (here / "report.html").read_text()


def test_two_series_are_compared_and_a_run_with_none(devkit: Devkit, here: Path) -> None:
    for name, codes in (("one", (0, 0)), ("two", (0, 1))):
        directory = here / "runs" / "a-storm" / f"series-{name}"
        directory.mkdir(parents=True)
        write_series(directory, of(*codes))
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
