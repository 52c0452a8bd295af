import json
from pathlib import Path

import pytest

from devkit.errors import UsageError
from devkit.report.run_record import read_run
from tests.unit.devkit.report import storm


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return storm.write_run(tmp_path / "run")


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
