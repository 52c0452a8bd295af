from typing import Any

import pytest
from pydantic import ValidationError
from ruamel.yaml import YAML

from mockapi.control.fault_list import GROUPS, described, rule_example
from mockapi.rules.model import Do, Rule

FAULTS = {fault.name: fault for fault in described()}


def test_every_key_of_do_is_a_fault_that_is_described() -> None:
    assert set(FAULTS) == set(Do.model_fields)
    assert {fault.group for fault in FAULTS.values()} == set(GROUPS)


def test_they_come_group_by_group_and_say_whether_they_depend_on_load() -> None:
    groups = [fault.group for fault in described()]
    assert groups == sorted(groups, key=list(GROUPS).index)
    assert (FAULTS["capacity"].deterministic, FAULTS["status"].deterministic) == (False, True)


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_its_example_is_a_rule(name: str) -> None:
    document: dict[str, Any] = YAML(typ="safe", pure=True).load(rule_example(FAULTS[name]))
    rule = Rule.model_validate(document)
    assert getattr(rule.do, name) is not None


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_its_parameters_are_those_that_are_checked(name: str) -> None:
    """What is none of them is an unknown key."""
    fault = FAULTS[name]
    if not fault.parameters:
        return
    with pytest.raises(ValidationError) as raised:
        Rule.model_validate({"name": "x", "do": {name: {"no such key": 1}}, "ttl": "30s"})
    assert "extra_forbidden" in {error["type"] for error in raised.value.errors()}
    assert all(parameter.form != "anything" for parameter in fault.parameters)


@pytest.mark.parametrize(
    ("fault", "name", "form", "required"),
    [
        ("capacity", "parses", "whole number from 1", True),
        ("capacity", "overflow", "503 or 429", False),
        ("status", "code", "whole number from 200 to 599", True),
        ("latency", "p50", "duration", False),
    ],
)
def test_a_parameter_says_what_it_may_be(fault: str, name: str, form: str, required: bool) -> None:
    (parameter,) = [one for one in FAULTS[fault].parameters if one.name == name]
    assert (parameter.form, parameter.required) == (form, required)
    assert FAULTS["gateway_timeout"].parameters == ()


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("truncate", "size or share or {after, end, length}"),
        ("bandwidth", "size"),
        ("gateway_timeout", "duration"),
        ("status", "whole number or {code, body, retry_after, retry_after_as, headers}"),
    ],
)
def test_a_quantity_is_called_by_its_name(name: str, form: str) -> None:
    assert FAULTS[name].form == form
