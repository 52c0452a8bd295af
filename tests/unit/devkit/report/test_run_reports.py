import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.errors import UsageError
from devkit.report.run_record import read_run
from devkit.report.run_reports import RunReports
from tests.unit.devkit.report import storm

Make = Callable[..., RunReports]


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return storm.write_run(tmp_path / "run")


@pytest.fixture
def reports(run: Path, lines: list[str]) -> Make:
    def make(**environment: str) -> RunReports:
        return RunReports(run, storm.metadata(), say=lines.append, environment=environment)

    return make


def errors(run: Path) -> int:
    return int(ET.parse(run / "junit.xml").getroot().attrib["errors"])


def test_junit_grows_with_the_run(reports: Make, run: Path, lines: list[str]) -> None:
    made, result = reports(), storm.result()
    made.begin()
    counts = [errors(run)]
    for arm, of_arm in result.arms.items():
        made.arm_ended(arm, of_arm)
        counts.append(errors(run))
    made.finish(result)
    assert [*counts, errors(run)] == [3, 2, 1, 0]
    assert lines == []


def test_a_finished_run_has_all_of_them(reports: Make, run: Path) -> None:
    reports().finish(storm.result())
    assert "Reproduced and fixed" in (run / "report.html").read_text()
    assert (run / "summary.md").read_text().startswith("## ✅ a-storm")
    assert sorted(path.name for path in run.iterdir() if path.name.startswith(".")) == []


def test_a_run_that_broke_off_has_them_too(tmp_path: Path, lines: list[str]) -> None:
    error = {"t_s": 99.0, "kind": "harness error", "error": "kafka ended", "exit_code": 3}
    run = storm.write_run(tmp_path / "run", with_result=False, extra=(error,))
    made = RunReports(run, storm.metadata(), say=lines.append, environment={})
    made.arm_ended("incident", storm.result().arms["incident"])
    made.break_off("kafka ended")
    assert errors(run) == 2
    assert "kafka ended" in (run / "report.html").read_text()
    assert "no verdict" in (run / "summary.md").read_text()
    assert lines == []


def test_a_jobs_page_gets_the_summary_after_what_it_has(reports: Make, run: Path, tmp_path: Path) -> None:
    page = tmp_path / "job.md"
    page.write_text("before\n")
    reports(GITHUB_STEP_SUMMARY=str(page)).finish(storm.result())
    assert page.read_text() == "before\n" + (run / "summary.md").read_text()


def test_a_jobs_page_that_cannot_be_written_is_said(reports: Make, run: Path, tmp_path: Path, lines: list[str]) -> None:
    reports(GITHUB_STEP_SUMMARY=str(tmp_path / "no" / "job.md")).finish(storm.result())
    assert lines == [f"{tmp_path}/no/job.md (GITHUB_STEP_SUMMARY) cannot be written: No such file or directory"]
    assert (run / "summary.md").exists()


def test_a_report_that_fails_costs_only_itself(reports: Make, run: Path, lines: list[str]) -> None:
    (run / "report.html").mkdir()
    (run / "result.json").write_text("{}")
    reports().finish(storm.result())
    (line,) = lines
    assert line.startswith("report.html could not be written: UsageError: ")
    assert errors(run) == 0
    assert (run / "summary.md").exists()


def test_all_of_a_run(run: Path) -> None:
    found = read_run(run)
    assert found.metadata == storm.metadata()
    assert found.result == storm.result()
    assert list(found.arms) == ["incident", "fixed"]
    assert found.broke_off is None


def test_a_run_without_a_result_says_why(tmp_path: Path) -> None:
    error = {"t_s": 99.0, "kind": "harness error", "error": "kafka ended", "exit_code": 3}
    found = read_run(storm.write_run(tmp_path / "run", with_result=False, extra=(error,)))
    assert (found.result, found.broke_off) == (None, "kafka ended")


HALF_A_LINE = b'{"t_s": 99.1, "kind": "sample", "arm": "fixed", "commi\xff'


@pytest.mark.parametrize(
    "line",
    [
        *(b"[]\n", b"7\n", b'{"kind": "sample"}\n', b'{"t_s": "1", "kind": "x"}\n', b'{"t_s": 1}\n', b"\n"),
        HALF_A_LINE,
    ],
)
def test_what_is_no_line_of_a_timeline_is_left_out(run: Path, line: bytes) -> None:
    before = read_run(run).arms
    with (run / "events.jsonl").open("ab") as timeline:
        timeline.write(line)
    assert read_run(run).arms == before


def test_the_timeline_of_an_older_kit_is_read(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text('{"t_s": 0, "kind": "run", "scenario": "x", "seed": 7, "arms": ["fixed"]}\n')
    found = read_run(tmp_path)
    assert (found.metadata.title, found.metadata.began, found.arms) == ("", None, {})


def test_a_directory_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no run at ") as raised:
        read_run(tmp_path)
    assert raised.value.hint is not None
    assert "runs/latest" in raised.value.hint
    (tmp_path / "events.jsonl").write_text('{"t_s": 0, "kind": "sample"}\n')
    with pytest.raises(UsageError, match="no line of kind 'run'"):
        read_run(tmp_path)


def test_a_result_of_another_version(run: Path) -> None:
    result = json.loads((run / "result.json").read_text())
    del result["arms"]["fixed"]["audit"]
    (run / "result.json").write_text(json.dumps(result))
    with pytest.raises(UsageError, match=r"another version of the kit: arms\.fixed\.audit: is missing"):
        read_run(run)
