import sys
from pathlib import Path
from textwrap import dedent

import pytest

from devkit.faults.do import parse_do
from devkit.faults.registry import FAULTS, register
from tests.unit.devkit.faults.fakes import Noted

NEEDS_NO_PART = {
    *("kill_process", "stop_process", "cpu_load"),
    *("add_partitions", "recreate_topic", "topic_settings", "client_quota", "move_leader", "reassign"),
}
ELSEWHERE = """
from typing import ClassVar
from devkit.faults import Acting, Context, Fault, Need, Proof, register

@register
class Unplug(Fault):
    "Pulls the plug."
    name: ClassVar[str] = "unplug"
    summary: ClassVar[str] = "the plug is pulled"
    example: ClassVar[str] = "{part: kafka}"
    part: str

    def needs(self) -> tuple[Need, ...]:
        return (Need(self.part),)

    def begin(self, context: Context) -> Acting:
        return self

    def end(self) -> Proof:
        return Proof(True, "it was dark")
"""


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone after it."""
    monkeypatch.setattr(FAULTS, "_by_name", dict(FAULTS))


@pytest.mark.usefixtures("faults")
def test_another_package_adds_one_in_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere_faults.py").write_text(dedent(ELSEWHERE))
    monkeypatch.syspath_prepend(tmp_path)
    __import__("elsewhere_faults")
    try:
        assert str(parse_do({"unplug": {"part": "kafka"}})) == "unplug: {part: kafka}"
    finally:
        del sys.modules["elsewhere_faults"]


@pytest.mark.usefixtures("faults")
def test_a_name_is_given_once() -> None:
    register(Noted)
    register(Noted)
    with pytest.raises(ValueError, match=r"there is a fault on a part 'noted' already, added at .*test_registry.py"):
        register(type("Other", (Noted,), {}))


@pytest.mark.parametrize("name", FAULTS)
def test_the_example_of_a_fault_is_one(name: str) -> None:
    from ruamel.yaml import YAML

    written = YAML(typ="safe", pure=True).load(f"{name}: {FAULTS[name].example}")
    fault = parse_do(written)
    assert isinstance(fault, FAULTS[name])
    assert bool(fault.needs()) is (name not in NEEDS_NO_PART)
