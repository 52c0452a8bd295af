from pathlib import Path

import pytest

from devkit.debug.fault_text import read_faults
from devkit.errors import InvalidFileError, UsageError

X = {"name": "x", "do": {"status": 504}}


@pytest.mark.parametrize(
    "text",
    [
        "name: x, do: {status: 504}",
        "{name: x, do: {status: 504}}",
        "[{name: x, do: {status: 504}}]",
        "name: x\ndo:\n  status: 504\n",
        "rules: [{name: x, do: {status: 504}}]",
        '{"name": "x", "do": {"status": 504}}',
    ],
)
def test_yaml_as_it_is_typed(tmp_path: Path, text: str) -> None:
    assert read_faults(text, tmp_path) == [X]


@pytest.mark.parametrize(
    "text",
    [
        "- {name: x, do: {status: 504}}",
        "name: x\ndo: {status: 504}",
        "name: incident\nmock: {rules: [{name: x, do: {status: 504}}]}",
        "mock: {rules: [{name: x, from: {share: 30%}, until: {share: 60%}, do: {status: 504}}]}",
    ],
)
def test_a_file_by_its_path_or_a_scenario_by_its_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "an-incident.yaml"
    file.write_text(text)
    assert read_faults(str(file), Path("nowhere")) == [X]
    if "mock:" in text:
        assert read_faults("an-incident", tmp_path) == [X]


def test_yaml_that_is_longer_than_a_file_name_may_be(tmp_path: Path) -> None:
    text = f"name: {'x' * 5000}, do: {{status: 504}}"
    assert read_faults(text, tmp_path)[0]["name"] == "x" * 5000


def test_a_broken_file_by_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("- name: x\n  do: {status: 504\n")
    with pytest.raises(InvalidFileError, match=r"faults.yaml:3:1: not YAML"):
        read_faults(str(file), tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nosuch", "neither a file, nor a scenario, nor a fault"),
        ("do: {status: 504", "not YAML"),
        ("rules: []", "no fault in"),
        ("[1:2]", "no fault in"),
    ],
)
def test_what_is_no_fault(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        read_faults(text, tmp_path)
    assert refused.value.hint is not None
    assert "do: {status: 504}" in refused.value.hint


def test_a_name_that_is_near_no_scenario_brings_those_there_are(tmp_path: Path) -> None:
    (tmp_path / "an-incident.yaml").write_text("")
    with pytest.raises(UsageError) as refused:
        read_faults("nosuch", tmp_path)
    assert "scenarios: an-incident" in refused.value.render()
