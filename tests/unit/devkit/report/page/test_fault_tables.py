import pytest

from devkit.observe.arm_observation import AnyEvidence
from devkit.report.page.fault_tables import FaultTables, PartFaultRow, RuleFaultRow, fault_tables
from devkit.report.result import Result
from tests.unit.devkit.report.conftest import STILL, fired

SLOW = fired(fault="slow", requests=1200, max_content_length_bytes=None, max_wire_bytes=10, max_real_bytes=20000)


def tables(result: Result, **evidence: tuple[AnyEvidence, ...]) -> FaultTables:
    return fault_tables(result.model_copy(update={"fault_evidence": evidence}))


def test_faults_on_parts_and_rules_of_the_mock_are_told_apart(good: Result) -> None:
    found = tables(good, incident=(SLOW, STILL), fixed=())
    assert found.on_parts == (
        PartFaultRow("still", "incident", "✓ yes", "pause: {part: kafka}", "8 to 13 s", "it was silent"),
    )
    assert found.of_rules == (RuleFaultRow("slow", "incident", "✓ yes", "1,200", "absent", "10", "20,000", "312 ms"),)
    assert found.arms_without_faults == ("fixed",)


@pytest.mark.parametrize(
    ("changes", "acted", "time", "seen"),
    [
        ({"acted": False}, "✗ began, but was not seen to act", "8 to 13 s", "it was silent"),
        ({"acted": False, "fired": False, "from_s": None, "to_s": None}, "✗ never began", "", "it was silent"),
        ({"to_s": None}, "✓ yes", "from 8 s", "it was silent"),
        ({"did": "", "irreversible": ("2 partitions",)}, "✓ yes", "8 to 13 s", "cannot be undone: 2 partitions"),
        ({"hides": "the audit"}, "✓ yes", "8 to 13 s", "it was silent; not observable because of it: the audit"),
    ],
)
def test_a_fault_on_a_part(good: Result, changes: dict[str, object], acted: str, time: str, seen: str) -> None:
    (row,) = tables(good, fixed=(STILL.model_copy(update=changes),)).on_parts
    assert (row.acted, row.time, row.seen) == (acted, time, seen)


@pytest.mark.parametrize(
    ("changes", "acted"),
    [
        ({"fired": False}, "✗ no request matched it"),
        ({"acted": False, "inaction": "nothing waited"}, "✗ matched, but did not act: nothing waited"),
        ({"acted": True}, "✓ yes"),
    ],
)
def test_a_rule_of_the_mock(good: Result, changes: dict[str, object], acted: str) -> None:
    (row,) = tables(good, fixed=(SLOW.model_copy(update=changes),)).of_rules
    assert row.acted == acted
