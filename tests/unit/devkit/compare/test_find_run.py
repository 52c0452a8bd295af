from pathlib import Path

import pytest

from devkit.compare.find_run import find_run
from devkit.errors import UsageError
from tests.unit.devkit.compare.conftest import Runs
from tests.unit.devkit.report import storm


def test_by_its_directory_its_name_and_that_of_its_scenario(runs: Runs) -> None:
    first, newest = (runs.write(time) for time in ("20261121T100000Z", "20261121T110000Z"))
    assert find_run(str(first), runs.out).directory == first
    assert find_run("a-storm/20261121T100000Z", runs.out).directory == first
    assert find_run("a-storm", runs.out).directory == newest
    (runs.out / "latest").symlink_to(first)
    assert find_run("latest", runs.out).directory == runs.out / "latest"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a-strom", "did you mean a-storm?"),
        ("a-storm/20261121T100001Z", "did you mean a-storm/20261121T100000Z?"),
        ("zzz", "name a directory, or the newest of one of a-storm"),
    ],
)
def test_what_is_none_is_refused_with_what_there_is(runs: Runs, text: str, hint: str) -> None:
    runs.write("20261121T100000Z")
    (runs.out / "notes").mkdir()
    with pytest.raises(UsageError, match=f"there is no run {text}") as raised:
        find_run(text, runs.out)
    assert raised.value.hint == hint


def test_where_there_is_none_at_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no run a, and none at all in .*nowhere"):
        find_run("a", tmp_path / "nowhere")


def test_a_directory_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(UsageError, match="there is no run"):
        find_run(str(tmp_path), tmp_path / "runs")


def test_one_without_a_result_says_why(tmp_path: Path) -> None:
    error = {"t_s": 1.0, "kind": "harness error", "error": "Kafka ended", "exit_code": 3}
    storm.write_run(tmp_path / "broken", with_result=False, extra=(error,))
    with pytest.raises(UsageError, match=r"has no result\.json to compare; it broke off: Kafka ended"):
        find_run("broken", tmp_path)
    storm.write_run(tmp_path / "cut", with_result=False)
    with pytest.raises(UsageError, match="it was interrupted, or is not over yet"):
        find_run("cut", tmp_path)
