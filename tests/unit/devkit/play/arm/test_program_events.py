"""What an arm makes of what its pipeline says: for the timeline, for its state and for a person."""

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from devkit.observe.audit.replays import BatchBegin, Replays, RetriedTask
from devkit.observe.checkpoint import OffsetRange
from devkit.observe.logs.logs import UnknownLine
from devkit.observe.timeline.kit_events import ProcessEnded, ProcessRestarted, ProgramEvent
from devkit.play.arm.collect import replays_of
from devkit.play.arm.program_events import describe
from devkit.scenario.model import Scenario
from pipeline.events import (
    BatchCommitted,
    BatchStarted,
    BatchWritten,
    Configuration,
    Failed,
    HeapDumped,
    LimitsDisagree,
    OffsetsRead,
    Resumed,
    Started,
    StateCommitted,
    TaskRetried,
    Waiting,
)
from tests.unit.devkit.play.arm.stage import Stage, set_up


@pytest.mark.parametrize(
    ("batch", "text"),
    [
        (OffsetRange({("t", 0): 50}, {("t", 0): 100}), "offsets 50 to 99"),
        (OffsetRange({}, {("t", 0): 1}), "offsets 0 to 0"),
        (
            OffsetRange({("t", 0): 5, ("t", 1): 7}, {("t", 1): 9, ("t", 0): 6}),
            "offsets 5 to 5 of partition 0, offsets 7 to 8 of partition 1",
        ),
        (OffsetRange({("t", 0): 5, ("t", 1): 7}, {("t", 0): 6, ("t", 1): 7}), "offsets 5 to 5 of partition 0"),
        (OffsetRange({("t", 0): 5}, {("t", 0): 6, ("u", 0): 2}), "offsets 5 to 5 of t/0, offsets 0 to 1 of u/0"),
    ],
)
def test_a_batch_is_described_by_its_offsets(batch: OffsetRange, text: str) -> None:
    assert describe(batch) == text


def test_a_line_of_the_pipeline_goes_into_the_timeline(stage: Stage) -> None:
    stage.take(UnknownLine("batch_ended", {"batch": 3, "rows": 50}))
    (line,) = stage.timeline()
    assert line | {"t_s": 0} == {"t_s": 0, "kind": "batch_ended", "arm": "incident", "batch": 3, "rows": 50}


def test_the_configuration_in_force_is_left_to_its_own_file(stage: Stage) -> None:
    stage.take(Configuration(unsafe=("record_limit.policy",), effective={"a": 1}))
    assert stage.timeline()[0].keys() == {"t_s", "kind", "arm", "unsafe"}


def test_a_batch_that_begins_again_is_marked_and_told(stage: Stage) -> None:
    stage.plan(0, p0=50)
    stage.plan(1, p0=100)
    for batch in (0, 1, 1):
        stage.take(BatchStarted(batch=batch))
    begun = [line["batch"] for line in stage.timeline() if line["kind"] == "batch_started"]
    assert begun == [0, 1, 1]
    assert stage.output.getvalue().endswith("incident replay: batch 1 again: offsets 50 to 99\n")
    assert stage.main.state.batches.replays == 1


def test_each_batch_that_was_written_has_its_time(stage: Stage) -> None:
    for batch, seconds in enumerate((4.5, 0.5, None)):
        stage.take(BatchWritten(batch=batch, seconds=seconds))
    assert [took for _, took in stage.main.state.batch_times] == [4.5, 0.5]


def test_what_the_batches_of_a_warm_up_took_does_not_count(stage: Stage) -> None:
    state = stage.main.state
    for batch in range(4):
        stage.take(BatchStarted(batch=batch))
        stage.take(BatchWritten(batch=batch, seconds=batch))
        if batch == 1:
            state.count_batches_from_now()
        if batch:  # Spark says it after the next batch
            stage.take(BatchCommitted(batch=batch - 1, rows=2, durations_ms={"walCommit": 1000 * batch}))
    assert [took for _, took in state.batch_times] == [2, 3]
    assert [took for _, took in state.warm_batches] == [2, 3]
    assert [took for _, took in state.commits] == [3]


def take_each(stage: Stage, monkeypatch: pytest.MonkeyPatch, happened: Iterable[ProgramEvent], every_s: float) -> None:
    for number, event in enumerate(happened):
        monkeypatch.setattr(stage.arm.events[stage.main.name], "_clock", lambda at_s=number * every_s: float(at_s))
        stage.take(event)


def test_how_many_batches_each_process_wrote_that_ended(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    happened: tuple[ProgramEvent, ...] = (
        Started(start="new", spark_ui="off"),
        BatchWritten(batch=0, seconds=1),
        BatchWritten(batch=1, seconds=1),
        ProcessEnded(process=1, exit_code=1),
        ProcessRestarted(process=2, pid=7),
        ProcessEnded(process=2, exit_code=1),
        ProcessRestarted(process=3, pid=8),
        Started(start="checkpoint", spark_ui="off"),
        ProcessEnded(process=3, exit_code=1),
        Started(start="checkpoint", spark_ui="off"),
        BatchWritten(batch=2, seconds=1),
    )
    take_each(stage, monkeypatch, happened, every_s=1)
    assert stage.main.state.written_by_process == [(3, 2), (8, 0)], "one ended before its query began, and one runs"


def test_batches_of_a_warm_process_and_what_its_end_cut_short(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    happened: tuple[ProgramEvent, ...] = (
        Started(start="new", spark_ui="off"),
        BatchStarted(batch=0),
        BatchWritten(batch=0, seconds=9.5),
        BatchStarted(batch=1),
        BatchWritten(batch=1, seconds=1.5),
        BatchStarted(batch=2),
        ProcessEnded(process=1, exit_code=1),
        ProcessRestarted(process=2, pid=7),
        Started(start="checkpoint", spark_ui="off"),
        BatchStarted(batch=2),
        ProcessEnded(process=2, exit_code=1),
    )
    stage.plan(1, p0=50)
    stage.plan(2, p0=90)
    take_each(stage, monkeypatch, happened, every_s=10)
    assert stage.main.state.warm_batches == [(40.0, 1.5), (60.0, 10.0)]
    assert [took for _, took in stage.main.state.batch_times] == [9.5, 1.5]


def test_what_spark_says_of_a_state_is_added_up(stage: Stage) -> None:
    assert stage.main.state.late_dropped is None
    figures = {"operator": "dedupeWithinWatermark", "rows": 9, "bytes": 900, "commit_ms": 3, "duplicates": 0}
    for batch, (late, watermark) in enumerate([(0, "1970-01-01T00:00:00.000Z"), (7, "2026-03-02T09:08:30.000Z")]):
        stage.take(StateCommitted(batch=batch, late_dropped=late, watermark=watermark, **figures))  # type: ignore[arg-type]
    assert stage.main.state.late_dropped == 7
    assert [seconds for _, seconds in stage.main.state.watermarks] == [0.0, 1772442510.0]


def test_what_a_retried_task_read_is_known_for_each_attempt_before(stage: Stage) -> None:
    read = (OffsetsRead("t", 0, 5, 9), OffsetsRead("u", 1, 0, 2))
    stage.take(TaskRetried(batch=3, attempts=2, read=read))
    stage.take(TaskRetried(attempts=1, read=read[:1]))
    one, other = OffsetRange({("t", 0): 5}, {("t", 0): 9}), OffsetRange({("u", 1): 0}, {("u", 1): 2})
    assert stage.main.state.retried == [RetriedTask((one, other), 2, batch=3), RetriedTask((one,), 1)]
    stage.take(BatchStarted(batch=3, began_ms=7))
    view: Any = SimpleNamespace(not_observable=lambda _: frozenset({"batches"}))
    main: Any = SimpleNamespace(state=stage.main.state, supervisor=SimpleNamespace(restarts=0), view=view)
    arm: Any = SimpleNamespace(main=main, deferrals=None)
    assert replays_of(arm) == Replays(0, None, tuple(stage.main.state.retried), (BatchBegin(3, 7),))


DUMPED = HeapDumped(file="/x.hprof", bytes=9, classes={"byte[]": 300 << 20})
RETRIED = "pipeline: Spark lost an executor and ran a task again, of"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (Started(start="earliest"), "pipeline: running, from earliest"),
        (Started(), "pipeline: running"),
        (Started(start="checkpoint", spark_ui="http://a:1"), "pipeline: running, from checkpoint, Spark UI http://a:1"),
        (Failed(error="the query failed"), "pipeline: the query failed"),
        (DUMPED, "pipeline: the driver's JVM ran out of memory: /x.hprof holds byte[] 300MiB"),
        (Waiting(reason="full", entries=40, bytes=9), "pipeline: waits before the next batch: full"),
        (Resumed(), "pipeline: goes on"),
        (TaskRetried(batch=3, attempts=1, read=()), f"{RETRIED} batch 3"),
        (TaskRetried(attempts=1, read=()), f"{RETRIED} a round of the slow lane"),
        (ProcessEnded(process=2, exit_code=-9), "pipeline: process 2 ended with exit code -9"),
        (ProcessRestarted(process=3), "restart: process 3, from the checkpoint"),
    ],
)
def test_what_a_person_wants_to_know_is_told(stage: Stage, line: ProgramEvent, message: str) -> None:
    stage.take(line)
    assert " ".join(stage.output.getvalue().split()).endswith(f"s incident {message}")


@pytest.mark.parametrize(
    ("shown", "line", "message"),
    [
        ("has_checkpoint", ProcessRestarted(process=2), "restart: process 2"),
        ("says_when_it_runs", TaskRetried(batch=3, attempts=1, read=()), "pipeline: ran a task again, of batch 3"),
        ("says_when_it_runs", TaskRetried(attempts=1, read=()), "pipeline: ran a task again"),
    ],
)
def test_what_a_program_does_not_show_is_not_told(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, shown: str, line: ProgramEvent, message: str
) -> None:
    monkeypatch.setattr(type(stage.main.view), shown, False)
    stage.take(line)
    assert " ".join(stage.output.getvalue().split()).endswith(f"s incident {message}")


@pytest.mark.parametrize(("limit", "complaints"), [(None, []), (2 << 20, ["limits_disagree"])])
def test_only_a_limit_that_the_file_sets_is_a_complaint_of_the_program(
    scenario: Scenario, tmp_path: Path, limit: int | None, complaints: list[str]
) -> None:
    source = scenario.kafka.topics.source.model_copy(update={"max_message_bytes": limit})
    topics = scenario.kafka.topics.model_copy(update={"source": source})
    kafka = scenario.kafka.model_copy(update={"topics": topics})
    with set_up(scenario.model_copy(update={"kafka": kafka}), tmp_path) as stage:
        stage.take(LimitsDisagree(problem="the topic takes more", hint="raise it", of="source topic"))
        assert [one.event for one in stage.main.state.complaints.found] == complaints
        assert [line["kind"] for line in stage.timeline()] == ["limits_disagree"]


def test_anything_else_is_told_to_the_timeline_only(stage: Stage) -> None:
    stage.take(UnknownLine("something_new", {"figure": 1}))
    assert [line["kind"] for line in stage.timeline()] == ["something_new"]
    assert stage.output.getvalue() == ""


def test_what_processes_said_when_they_failed_is_kept(stage: Stage) -> None:
    for text in ("no commit within 10 s: batch 3", "query failed"):
        stage.take(Failed(error=text))
    assert stage.main.state.failures == ["no commit within 10 s: batch 3", "query failed"]


def test_a_restart_is_told_as_one_to_what_shows_the_arm(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    moments: list[object] = []
    shown = stage.arm.context.progress
    monkeypatch.setattr(shown, "phase", lambda *_, moment=None: moments.append(moment))
    stage.take(Started())
    stage.take(ProcessRestarted(process=2))
    assert moments == [None, "restart"]


def test_where_a_program_keeps_its_offsets(stage: Stage) -> None:
    stage.take(UnknownLine("committed_offsets", {"group": "mine"}))
    stage.take(UnknownLine("another", {"group": "yours"}))
    assert stage.main.state.stated_offsets == {"group": "mine"}
