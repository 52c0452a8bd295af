from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.debug.fault_text import read_faults
from devkit.debug.mock_faults import FaultControl, free_name
from devkit.errors import InvalidFileError, StackError, UsageError
from devkit.stack.ports import free_port
from tests.unit.devkit.debug.mock_server import ServedMock

SICK = {"name": "sick", "do": {"status": 504}}
X = {"name": "x", "do": {"status": 504}}


@pytest.fixture
def control(served: ServedMock) -> FaultControl:
    return FaultControl(served.endpoint)


def test_a_fault_is_effective_at_once_and_counted(served: ServedMock, control: FaultControl) -> None:
    assert control.add([SICK]) == ["sick"]
    assert served.fetch(1) == 504
    (fault,) = control.listed()
    assert (fault.name, fault.do, fault.counts.requests) == ("sick", {"status": {"code": 504}}, 1)
    assert fault.counts.by_status == {"504": 1}
    assert fault.last_s_ago is not None


def test_one_that_matched_nothing_says_what_remains_of_it(control: FaultControl) -> None:
    control.add([{**SICK, "when": {"share": "5%"}, "ttl": "30s", "times": 2, "enabled": False}])
    (fault,) = control.listed()
    assert (fault.when, fault.counts.requests, fault.last_s_ago) == ({"share": 0.05}, 0, None)
    assert (fault.phase, fault.times_remaining) == ("switched off", 2)
    assert fault.ttl_remaining_s is not None
    assert 0 < fault.ttl_remaining_s <= 30


def test_names_are_made_up_that_are_free(control: FaultControl) -> None:
    nameless = {"do": {"status": 504}}
    assert control.add([nameless, nameless]) == ["status-504", "status-504-2"]
    assert control.add([nameless]) == ["status-504-3"]


def test_what_the_mock_says_of_place_and_hint(control: FaultControl) -> None:
    with pytest.raises(UsageError) as refused:
        control.add([{"name": "x", "do": {"statsu": 504}}])
    assert str(refused.value) == "do.statsu: unknown key"
    assert refused.value.hint is not None
    assert refused.value.hint.startswith("did you mean 'status'?")


def test_all_are_added_or_none(control: FaultControl) -> None:
    with pytest.raises(UsageError, match="there already"):
        control.add([SICK, SICK])
    assert control.listed() == []


@pytest.mark.parametrize(
    ("written", "name"),
    [("sick", "sick"), ("a/b c", "a/b c"), ("50 % é", "50 % é"), (date(2026, 1, 2), "2026-01-02")],
    ids=["plain", "a path", "marks", "a date of YAML is what it was written as"],
)
def test_a_fault_is_removed_by_its_name(control: FaultControl, written: object, name: str) -> None:
    assert control.add([{**SICK, "name": written}]) == [name]
    control.remove(name)
    assert control.listed() == []


def test_a_near_name_is_offered(control: FaultControl) -> None:
    control.add([SICK])
    with pytest.raises(UsageError) as refused:
        control.remove("sik")
    assert "did you mean 'sick'?" in refused.value.render()


def test_all_are_removed(control: FaultControl) -> None:
    control.add([SICK, {**SICK, "name": "other"}])
    assert control.remove_all() == ["sick", "other"]
    assert control.listed() == []


def test_a_mock_that_is_not_there() -> None:
    with pytest.raises(StackError, match="does not answer"):
        FaultControl(f"http://127.0.0.1:{free_port()}").listed()


class TestFreeName:
    @pytest.mark.parametrize(
        ("do", "name"),
        [
            ({"status": 504}, "status-504"),
            ({"latency": "1.5s"}, "latency-1-5s"),
            ({"status": {"code": 503}, "latency": "2s"}, "status-latency-2s"),
            ({}, "fault"),
            (None, "fault"),
        ],
    )
    def test_it_says_what_the_fault_does(self, do: Any, name: str) -> None:
        assert free_name({"do": do}, set()) == name

    @given(st.sets(st.sampled_from(["status-504", *(f"status-504-{number}" for number in range(2, 9))])))
    def test_it_is_free(self, taken: set[str]) -> None:
        assert free_name({"do": {"status": 504}}, taken) not in taken


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
