from dataclasses import replace
from pathlib import Path

import pytest

from devkit.observe.figures import FlatCommit, LatencyFigures
from devkit.observe.observable import Observable
from devkit.report.page.tables import delivery, measured, programs
from devkit.report.result import ProgramResult
from devkit.report.run_record import RunRecord, read_run
from tests.unit.devkit.report import storm


@pytest.fixture
def run(tmp_path: Path) -> RunRecord:
    return read_run(storm.write_run(tmp_path))


def rows(run: RunRecord) -> dict[str, tuple[str, ...]]:
    return {row.name: row.values for row in measured(run)}


def test_what_was_measured(run: RunRecord) -> None:
    found = rows(run)
    assert found["restarts"] == ("2", "0")
    assert found["requests for each fetch"] == ("3.59", "1.08")
    assert found["parses whose client had disconnected"] == ("71 %", "5 %")
    assert found["committed"][1] == "200 of 200"
    assert found["end-to-end latency"] == ("134 were not emitted", "134 were not emitted")


def test_what_no_arm_has_is_left_out(run: RunRecord) -> None:
    assert {"events ever deferred", "longest time without a commit"}.isdisjoint(rows(run))


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
    assert run.result is not None
    incident = run.result.arms["incident"]
    audit = incident.audit.model_copy(update={"inputs": 200, "outputs": 60, "pending": pending, "lost": 0})
    arms = run.result.arms | {"incident": incident.model_copy(update={"audit": audit})}
    records = run.arms | {"incident": replace(run.arms["incident"], not_observable=frozenset({hidden}))}
    changed = replace(run, arms=records, result=run.result.model_copy(update={"arms": arms}))
    found = {row.name: row.values[0] for row in delivery(changed)}
    assert {name: found[name] for name in figures} == figures
    assert found.get("still in the source, not committed") == ("not observable" if pending else None)


@pytest.mark.parametrize(
    ("after", "shown"), [("5 restarts within 10m", "after 5 restarts within 10m"), ("", "yes")], ids=["why", "old run"]
)
def test_an_arm_whose_supervisor_gave_up_says_so(run: RunRecord, after: str, shown: str) -> None:
    assert run.result is not None
    update = {"gave_up": True, "gave_up_after": after}
    incident = run.result.arms["incident"].model_copy(update=update)
    result = run.result.model_copy(update={"arms": run.result.arms | {"incident": incident}})
    assert rows(replace(run, result=result))["given up by its supervisor"] == (shown, "—")


def test_latencies_and_a_flat_commit(run: RunRecord) -> None:
    assert run.result is not None
    fixed = run.result.arms["fixed"]
    figures = fixed.figures.model_copy(
        update={
            "latency": LatencyFigures(emitted=9, waiting=0, p50_s=0.8, p95_s=2.5, p99_s=None, max_s=3),
            "flat_commit": FlatCommit(
                duration_s=12.5, from_s=3, committed=4, source_end=9, median_cpu_cores=0.4, mean_cpu_cores=0.5
            ),
        }
    )
    arms = {**run.result.arms, "fixed": fixed.model_copy(update={"figures": figures})}
    changed = RunRecord(run.directory, run.metadata, run.arms, run.result.model_copy(update={"arms": arms}), None)
    assert rows(changed)["end-to-end latency"][1] == "p50 800 ms, p95 2.5 s"
    assert rows(changed)["longest time without a commit"] == ("—", "12.5 s from 3 s on, at 0.4 cores")


def test_without_a_result_there_is_what_the_timeline_shows(run: RunRecord) -> None:
    bare = RunRecord(run.directory, run.metadata, run.arms, None, None)
    assert list(rows(bare)) == ["lasted", "ended by", "restarts", "committed", "highest lag, events"]
    assert delivery(bare) == ()


def test_where_the_events_went(run: RunRecord) -> None:
    found = {row.name: row.values for row in delivery(run)}
    assert found["events published"] == ("200", "200")
    assert found["lost"] == ("0", "0")
    assert found["still in the source, not committed"] == ("134", "0")
    assert "out of order for their page" not in found


def test_an_arm_that_has_not_come_to_a_result(run: RunRecord) -> None:
    assert run.result is not None
    only = run.result.model_copy(update={"arms": {"fixed": run.result.arms["fixed"]}})
    changed = RunRecord(run.directory, run.metadata, run.arms, only, None)
    assert {row.name: row.values for row in delivery(changed)}["lost"] == ("—", "0")
    assert rows(changed)["requests to the upstream"] == ("—", "812")


def test_each_of_several_programs_has_a_row(run: RunRecord) -> None:
    assert programs(run) == ()
    assert run.result is not None
    reader = ProgramResult(
        name="reader",
        run="consumer",
        started=True,
        restarts=0,
        exit_codes=(),
        is_over=False,
        failures=(),
        exceptions=(),
        peak_memory_bytes=30 << 20,
    )
    fixed = run.result.arms["fixed"].model_copy(update={"programs": (reader,)})
    result = run.result.model_copy(update={"arms": run.result.arms | {"fixed": fixed}})
    (row,) = programs(replace(run, result=result))
    assert (row.name, row.values) == (
        "reader",
        ("—", "consumer, ran until the arm's end, never restarted, at most 30MiB of memory"),
    )
