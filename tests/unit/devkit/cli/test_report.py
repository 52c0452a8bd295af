from pathlib import Path

from tests.unit.devkit.cli.conftest import Devkit
from tests.unit.devkit.report import storm


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


def test_where_there_is_no_run(devkit: Devkit) -> None:
    finished = devkit("report")
    assert finished.code == 2
    assert finished.err == (
        "error: there is no run at runs/latest\n"
        "hint: a run's directory is runs/NAME/TIME, the newest is runs/latest, both below where the run was started\n"
    )


def test_of_a_directory_that_is_no_run(devkit: Devkit, here: Path) -> None:
    finished = devkit("report", str(here))
    assert finished.code == 2
    assert finished.err.startswith(f"error: {here}/events.jsonl cannot be read: No such file or directory\nhint: ")
