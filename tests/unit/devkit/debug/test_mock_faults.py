from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.debug.mock_faults import FaultControl, free_name
from devkit.errors import StackError, UsageError
from devkit.stack.ports import free_port
from tests.unit.devkit.debug.mock_server import ServedMock

SICK = {"name": "sick", "do": {"status": 504}}


class TestAdd:
    def test_a_fault_is_in_force_at_once_and_counted(self, served: ServedMock) -> None:
        control = FaultControl(served.endpoint)
        assert control.add([SICK]) == ["sick"]
        assert served.fetch(1) == 504
        (fault,) = control.listed()
        assert (fault.name, fault.do, fault.counts.requests) == ("sick", {"status": {"code": 504}}, 1)
        assert fault.counts.by_status == {"504": 1}
        assert fault.last_s_ago is not None

    def test_one_that_met_nothing(self, served: ServedMock) -> None:
        control = FaultControl(served.endpoint)
        control.add([{**SICK, "when": {"share": "5%"}}])
        (fault,) = control.listed()
        assert (fault.when, fault.counts.requests, fault.last_s_ago) == ({"share": 0.05}, 0, None)

    def test_names_are_made_up_that_are_free(self, served: ServedMock) -> None:
        control = FaultControl(served.endpoint)
        nameless = {"do": {"status": 504}}
        assert control.add([nameless, nameless]) == ["status-504", "status-504-2"]
        assert control.add([nameless]) == ["status-504-3"]

    def test_what_the_mock_says_of_place_and_hint(self, served: ServedMock) -> None:
        with pytest.raises(UsageError) as refused:
            FaultControl(served.endpoint).add([{"name": "x", "do": {"statsu": 504}}])
        assert str(refused.value) == "do.statsu: unknown key"
        assert refused.value.hint is not None
        assert refused.value.hint.startswith("did you mean 'status'?")

    def test_all_or_none(self, served: ServedMock) -> None:
        control = FaultControl(served.endpoint)
        with pytest.raises(UsageError, match="there already"):
            control.add([SICK, SICK])
        assert control.listed() == []

    def test_a_date_of_yaml_is_the_name_it_was_written_as(self, served: ServedMock) -> None:
        control = FaultControl(served.endpoint)
        assert control.add([{**SICK, "name": date(2026, 1, 2)}]) == ["2026-01-02"]


class TestRemove:
    @pytest.mark.parametrize("name", ["sick", "a/b c", "50 % é"])
    def test_by_name(self, served: ServedMock, name: str) -> None:
        control = FaultControl(served.endpoint)
        control.add([{**SICK, "name": name}])
        control.remove(name)
        assert control.listed() == []

    def test_a_near_name_is_offered(self, served: ServedMock) -> None:
        control = FaultControl(served.endpoint)
        control.add([SICK])
        with pytest.raises(UsageError) as refused:
            control.remove("sik")
        assert "did you mean 'sick'?" in refused.value.render()

    def test_all_of_them(self, served: ServedMock) -> None:
        control = FaultControl(served.endpoint)
        control.add([SICK, {**SICK, "name": "other"}])
        assert control.remove_all() == ["sick", "other"]
        assert control.listed() == []


def test_a_mock_that_is_not_there() -> None:
    with pytest.raises(StackError, match="does not answer"):
        FaultControl(f"http://127.0.0.1:{free_port()}").listed()


def test_what_is_left_of_a_fault_is_told(served: ServedMock) -> None:
    control = FaultControl(served.endpoint)
    control.add([{"name": "short", "do": {"status": 503}, "ttl": "30s", "times": 2, "enabled": False}])
    (fault,) = control.listed()
    assert (fault.phase, fault.times_remaining) == ("switched off", 2)
    assert fault.ttl_remaining_s is not None
    assert 0 < fault.ttl_remaining_s <= 30


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
