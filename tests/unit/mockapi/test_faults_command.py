import json
from pathlib import Path

import pytest

from mockapi import faults_command
from mockapi.__main__ import main
from mockapi.faults.registry import FAULTS


def test_all_are_listed_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert faults_command.main([]) == 0
    text = capsys.readouterr().out
    for name, fault in FAULTS.items():
        assert f"\n  {name}  {fault.summary.split()[0]}" in text
        assert f"{{name: {name}, do: {{{name}: " in text
    assert all(len(line) <= 100 or line.lstrip().startswith("{") for line in text.splitlines())


def test_one_is_shown_with_what_its_parameters_may_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "capacity"]) == 0
    text = capsys.readouterr().out
    assert "  parses    whole number from 1 (required)\n" in text
    assert "(*) depends on time, order or load" in text


def test_programs_get_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert faults_command.main(["--json"]) == 0
    assert {fault["name"] for fault in json.loads(capsys.readouterr().out)} == set(FAULTS)
    assert faults_command.main(["status", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert (one["name"], one["example"]) == ("status", 504)


def test_the_table_of_the_docs_is_printed_or_put_in_place(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert faults_command.main(["--markdown"]) == 0
    table = capsys.readouterr().out
    assert [line.split(":")[0] for line in table.splitlines()[2:]] == [f"| `{name}" for name in FAULTS]
    assert "| `keep_alive: {requests: 5}` | FIN after the fifth" in table
    file = tmp_path / "faults.md"
    file.write_text("before\n\n| fault | what it does |\n|---|---|\n| old | row |\n\nafter\n")
    assert faults_command.main(["--markdown", str(file)]) == 0
    assert file.read_text() == f"before\n\n{table}\nafter\n"


@pytest.mark.parametrize(
    ("text", "said"), [(None, "cannot be read"), ("nothing", "no table of faults; it begins with")]
)
def test_a_file_without_a_table_is_left_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str | None, said: str
) -> None:
    file = tmp_path / "faults.md"
    if text is not None:
        file.write_text(text)
    assert faults_command.main(["--markdown", str(file)]) == 2
    assert said in capsys.readouterr().err
    assert text is None or file.read_text() == text


def test_a_name_that_is_no_faults_is_told_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert faults_command.main(["statsu"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("mockapi: no fault 'statsu'; did you mean 'status'?")
