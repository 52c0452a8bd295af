import json

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


def test_a_name_that_is_no_faults_is_told_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert faults_command.main(["statsu"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("mockapi: no fault 'statsu'; did you mean 'status'?")
