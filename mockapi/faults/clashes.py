"""Which faults one rule cannot have together, by what the faults say of themselves."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import PydanticCustomError

from mockapi.faults.fault import Fault


def check_clashes(faults: Sequence[Fault[Any]], given: Mapping[str, object]) -> None:
    """Raises PydanticCustomError when `faults` of one rule contradict each other; `given` has their parameters."""
    for fault in faults:
        if fault.alone and len(faults) > 1:
            hint = f"{fault.name} leaves no answer for the others to change: give them a rule of their own"
            _refuse(fault.name, min(given.keys() - {fault.name}), hint)
    for slot in dict.fromkeys(slot for fault in faults for slot in fault.claims):
        both = [fault.name for fault in faults if slot in fault.claims]
        if len(both) > 1:
            hint = f"{slot.reason}: keep one of them, or make two rules, of which the last one decides"
            _refuse(both[0], both[1], hint)
    for fault in faults:
        clash = fault.clash(given[fault.name], given) if fault.clash is not None else None
        if clash is not None:
            _refuse(clash.other, fault.name, clash.hint)


def _refuse(one: str, other: str, hint: str) -> None:
    raise PydanticCustomError("clash", "{one} and {other} in one rule", {"one": one, "other": other, "hint": hint})
