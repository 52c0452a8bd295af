from dataclasses import replace
from typing import Any

import pytest

from devkit.observe.arm_observation import AnyEvidence
from devkit.observe.figures import FlatCommit, LatencyFigures
from devkit.observe.observable import Observable
from devkit.report.page.fault_tables import FaultTables, PartFaultRow, RuleFaultRow, fault_tables
from devkit.report.page.tables import delivery, measured, programs
from devkit.report.result import Result
from devkit.report.run_record import RunRecord
from tests.unit.devkit.report.conftest import STILL, a_program, fired, result_of, with_arm_result, with_result

SLOW = fired(fault="slow", requests=1200, max_content_length_bytes=None, max_wire_bytes=10, max_real_bytes=20000)


def rows(run: RunRecord) -> dict[str, tuple[str, ...]]:
    return {row.name: row.values for row in (*measured(run), *delivery(run))}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("restarts", ("2", "0")),
        ("requests for each fetch", ("3.59", "1.08")),
        ("parses whose client had disconnected", ("71 %", "5 %")),
        ("end-to-end latency", ("134 were not emitted", "134 were not emitted")),
        ("events published", ("200", "200")),
        ("lost", ("0", "0")),
        ("still in the source, not committed", ("134", "0")),
    ],
)
def test_a_row_of_both_arms(run: RunRecord, name: str, values: tuple[str, str]) -> None:
    assert rows(run)[name] == values
    assert rows(run)["committed"][1] == "200 of 200"


@pytest.mark.parametrize(
    "name", ["events ever deferred", "longest time without a commit", "out of order for their page"]
)
def test_what_no_arm_has_is_left_out(run: RunRecord, name: str) -> None:
    assert name not in rows(run)


@pytest.mark.parametrize(
    ("hidden", "pending", "figures"),
    [
        ("offsets", 18, {"lost": "not observable", "ended as output": "60"}),
        ("offsets", 0, {"lost": "0", "ended as output": "60"}),  # nothing is left, so nothing was lost
        ("sources", 0, {"lost": "not observable", "ended as output": "not observable", "events published": "200"}),
    ],
)
def test_where_events_went_is_no_number_where_it_is_not_observable(
    run: RunRecord, hidden: Observable, pending: int, figures: dict[str, str]
) -> None:
    audit = result_of(run).arms["incident"].audit
    audit = audit.model_copy(update={"inputs": 200, "outputs": 60, "pending": pending, "lost": 0})
    records = {**run.arms, "incident": replace(run.arms["incident"], not_observable=frozenset({hidden}))}
    changed = replace(with_arm_result(run, "incident", audit=audit), arms=records)
    found = {row.name: row.values[0] for row in delivery(changed)}
    assert {name: found[name] for name in figures} == figures
    assert found.get("still in the source, not committed") == ("not observable" if pending else None)


GIVEN_UP = "given up by its supervisor"
LATENCY = LatencyFigures(emitted=9, waiting=0, p50_s=0.8, p95_s=2.5, p99_s=None, max_s=3)
FLAT = FlatCommit(duration_s=12.5, from_s=3, committed=4, source_end=9, median_cpu_cores=0.4, mean_cpu_cores=0.5)


@pytest.mark.parametrize(
    ("changes", "name", "shown"),
    [
        ({"gave_up": True, "gave_up_after": "5 restarts within 10m"}, GIVEN_UP, "after 5 restarts within 10m"),
        ({"gave_up": True, "gave_up_after": ""}, GIVEN_UP, "yes"),
        ({"figures": {"latency": LATENCY}}, "end-to-end latency", "p50 800 ms, p95 2.5 s"),
        ({"figures": {"flat_commit": FLAT}}, "longest time without a commit", "12.5 s from 3 s on, at 0.4 cores"),
    ],
    ids=["why a supervisor gave up", "an old run does not say why", "latencies", "a flat commit"],
)
def test_a_row_of_one_arm(run: RunRecord, changes: dict[str, Any], name: str, shown: str) -> None:
    if "figures" in changes:
        changes = {"figures": result_of(run).arms["fixed"].figures.model_copy(update=changes["figures"])}
    other = rows(run).get(name, ("—",))[0]
    assert rows(with_arm_result(run, **changes))[name] == (other, shown)


def test_without_a_result_there_is_what_the_timeline_shows(run: RunRecord) -> None:
    bare = replace(run, result=None)
    assert list(rows(bare)) == ["lasted", "ended by", "restarts", "committed", "highest lag, events"]


def test_an_arm_that_has_not_come_to_a_result(run: RunRecord) -> None:
    found = rows(with_result(run, arms={"fixed": result_of(run).arms["fixed"]}))
    assert (found["lost"], found["requests to the upstream"]) == (("—", "0"), ("—", "812"))


def test_each_of_several_programs_has_a_row(run: RunRecord) -> None:
    assert programs(run) == ()
    (row,) = programs(with_arm_result(run, programs=(a_program(peak_memory_bytes=30 << 20),)))
    shown = "consumer, ran until the arm's end, never restarted, at most 30MiB of memory"
    assert (row.name, row.values) == ("reader", ("—", shown))


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
