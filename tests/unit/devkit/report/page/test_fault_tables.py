from pathlib import Path

import pytest

from devkit.observe.arm_observation import Evidence, TimelineEvidence
from devkit.report.page.fault_tables import PartFaultRow, RuleFaultRow, fault_tables
from devkit.report.result import Result
from devkit.report.run_record import read_run
from tests.unit.devkit.report import storm

STILL = TimelineEvidence(
    fault="still", fired=True, asked="pause: {part: kafka}", acted=True, did="it was silent", from_s=8, to_s=13
)
SLOW = Evidence(
    fault="slow",
    fired=True,
    requests=1200,
    completed=1200,
    max_content_length_bytes=None,
    max_wire_bytes=10,
    max_real_bytes=20000,
    max_duration_s=1.5,
)


@pytest.fixture
def result(tmp_path: Path) -> Result:
    run = read_run(storm.write_run(tmp_path))
    assert run.result is not None
    return run.result


def test_faults_on_parts_and_rules_of_the_mock_are_told_apart(result: Result) -> None:
    evidence = {"incident": (SLOW, STILL), "fixed": ()}
    found = fault_tables(result.model_copy(update={"fault_evidence": evidence}))
    assert found.on_parts == (
        PartFaultRow("still", "incident", "✓ yes", "pause: {part: kafka}", "8 to 13 s", "it was silent"),
    )
    assert found.of_rules == (RuleFaultRow("slow", "incident", "✓ yes", "1,200", "absent", "10", "20,000", "1.5 s"),)
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
def test_a_fault_on_a_part(result: Result, changes: dict[str, object], acted: str, time: str, seen: str) -> None:
    evidence = {"fixed": (STILL.model_copy(update=changes),)}
    (row,) = fault_tables(result.model_copy(update={"fault_evidence": evidence})).on_parts
    assert (row.acted, row.time, row.seen) == (acted, time, seen)


@pytest.mark.parametrize(
    ("changes", "acted"),
    [
        ({"fired": False}, "✗ no request matched it"),
        ({"acted": False, "inaction": "nothing waited"}, "✗ matched, but did not act: nothing waited"),
        ({"acted": True}, "✓ yes"),
    ],
)
def test_a_rule_of_the_mock(result: Result, changes: dict[str, object], acted: str) -> None:
    evidence = {"fixed": (SLOW.model_copy(update=changes),)}
    (row,) = fault_tables(result.model_copy(update={"fault_evidence": evidence})).of_rules
    assert row.acted == acted
