"""An arm with more than one program: each has its supervisor, and is known by its name."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psutil
import pytest

from devkit.guardian import Guardian
from devkit.observe.observable import OBSERVABLES
from devkit.play.arm import start as start_module
from devkit.play.arm.observation import programs
from devkit.play.arm.start import start_due, stop
from devkit.play.arm.warm_up import reason_against
from devkit.programs.command import view as view_module
from devkit.programs.program_run import ProgramRun
from devkit.programs.spark import place as place_module
from devkit.stack.stack import Stack
from tests.unit.devkit.conftest import Load
from tests.unit.devkit.play.arm.stage import Stage, set_up
from tests.unit.devkit.programs.file_guardian import FileGuardian

PROGRAMS = """programs:
  html: { run: pipeline html-enrichment }
  reader: { run: consumer, needs: [html], restart: on-failure }
  once: { run: command sh -c true, restart: never }
"""


@pytest.fixture
def guardian(tmp_path: Path) -> FileGuardian:
    return FileGuardian(tmp_path)


@pytest.fixture
def stage(tmp_path: Path, load: Load, guardian: FileGuardian, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(place_module, "_classpath", lambda: "a.jar")
    monkeypatch.setattr(view_module, "read_topic", lambda *_: ())
    with set_up(load(("until:", f"{PROGRAMS}until:")), tmp_path) as stage:
        store = SimpleNamespace(endpoint="http://127.0.0.1:1", credentials=dict)
        stack = cast(Stack, SimpleNamespace(**{**vars(stage.arm.context.stack), "object_store": store}))
        for run in stage.arm.programs:
            run.context = replace(run.context, guardian=cast(Guardian, guardian), stack=stack)
            run.supervisor._guardian = cast(Guardian, guardian)
        yield stage


def started(guardian: FileGuardian) -> list[str]:
    return [process.stdout.stem for process in guardian.started]


def poll(stage: Stage) -> None:
    for run in stage.arm.programs:
        for line in run.poll():
            stage.arm.events[run.name].take(line)


def named(stage: Stage, name: str) -> ProgramRun:
    return next(run for run in stage.arm.programs if run.name == name)


def test_each_is_started_when_what_it_needs_runs(stage: Stage, guardian: FileGuardian) -> None:
    start_due(stage.arm)
    assert started(guardian) == ["html-1", "once-1"]
    start_due(stage.arm)
    assert len(guardian.started) == 2
    guardian.started[0].says({"event": "started", "start": "earliest"})
    poll(stage)
    start_due(stage.arm)
    assert started(guardian) == ["html-1", "once-1", "reader-1"]


def test_each_has_a_configuration_and_a_checkpoint_of_its_own(stage: Stage, guardian: FileGuardian) -> None:
    start_due(stage.arm)
    directory = stage.directory / "incident"
    assert str(directory / "pipeline.yaml") in guardian.started[0].argv
    once = guardian.started[1].env
    assert once["DEVKIT_PIPELINE_CONFIG"] == str(directory / "once" / "pipeline.yaml")
    assert once["DEVKIT_CHECKPOINT"].endswith("incident/an-incident-once")


def test_lines_and_progress_carry_the_name(stage: Stage, guardian: FileGuardian) -> None:
    start_due(stage.arm)
    guardian.started[0].says({"event": "started", "start": "earliest"}, {"event": "batch_started", "batch": 0})
    poll(stage)
    assert [(line["kind"], line["program"]) for line in stage.timeline() if line["kind"] != "phase"] == [
        ("process_started", "html"),
        ("process_started", "once"),
        ("started", "html"),
        ("batch_started", "html"),
    ]
    assert "incident html: running, from earliest" in stage.output.getvalue()


def test_the_end_of_one_is_an_observation(stage: Stage, guardian: FileGuardian) -> None:
    start_due(stage.arm)
    guardian.started[1].exit_code = 3
    poll(stage)
    poll(stage)
    html, reader, once = programs(stage.arm, frozenset())
    assert (once.run, once.exit_codes, once.is_over, once.restarts) == ("sh -c true", (3,), True, 0)
    assert (html.run, html.started, html.is_over) == ("pipeline html-enrichment", True, False)
    assert (reader.name, reader.started) == ("reader", False)
    assert reader.not_observable == OBSERVABLES
    assert once.not_observable >= {"words", "batches", "offsets"}
    not_observable = [line["program"] for line in stage.timeline() if line["kind"] == "not_observable"]
    assert not_observable == ["reader", "once"]
    assert stage.main.supervisor.restarts == 0
    assert started(guardian) == ["html-1", "once-1"]


def test_an_output_that_no_audit_looks_at_is_told(stage: Stage) -> None:
    _, _, once = stage.arm.programs
    once.configured = replace(once.configured, config=_with_output(once.configured, "content"))
    assert [one.unaudited for one in programs(stage.arm, frozenset())] == ["", "", "content"]


def _with_output(configured: Any, topic: str) -> Any:
    sink = configured.config.sink.model_copy(update={"topic": topic})
    return configured.config.model_copy(update={"sink": sink})


def test_only_beside_programs_that_take_none_of_it_the_main_one_is_warmed_up(stage: Stage) -> None:
    arm = stage.arm
    arm.scenario = arm.scenario.model_copy(update={"traffic_begins": "when running"})
    html, reader, _ = arm.programs
    reason = "program once reads the source as well, and what it makes of a warm-up is not observed"
    assert reason_against(arm) == reason
    arm.programs = (html, reader)
    assert reason_against(arm) is None


def test_what_each_says_is_counted(stage: Stage, guardian: FileGuardian) -> None:
    start_due(stage.arm)
    guardian.started[0].says({"event": "started", "start": "earliest"}, {"event": "batch_started", "batch": 0})
    guardian.started[1].says({"event": "checked", "rows": 3}, {"event": "checked", "rows": 4})
    poll(stage)
    html, reader, once = programs(stage.arm, frozenset())
    assert (html.log, reader.log, once.log) == ({"started": 1, "batch_started": 1}, {}, {"checked": 2})


def test_what_each_says_until_it_is_stopped_is_counted(
    stage: Stage, guardian: FileGuardian, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_module, "take_sample", lambda *_, **__: None)
    stage.arm.context = replace(stage.arm.context, pauses=cast(Any, SimpleNamespace(at=lambda *_: None)))
    start_due(stage.arm)
    guardian.started[0].says({"event": "started", "start": "earliest"})
    poll(stage)
    guardian.started[0].says({"event": "order_violation"})
    guardian.started[1].stdout.write_text('{"event": "checked"}')
    for run in stage.arm.programs:
        stage.arm.stopping.callback(run.stop)
    stop(stage.arm)
    html, reader, once = programs(stage.arm, frozenset())
    assert (html.log, reader.log, once.log) == ({"started": 1, "order_violation": 1}, {}, {"checked": 1})
    assert (html.failures, html.exit_codes, html.restarts) == ((), (), 0)
    assert not named(stage, "html").is_running


def test_processes_are_found_by_role(stage: Stage, guardian: FileGuardian) -> None:
    start_due(stage.arm)
    driver = cast(psutil.Process, SimpleNamespace(pid=1001))
    other = cast(psutil.Process, SimpleNamespace(pid=7, name=str, cmdline=list))
    guardian.started[0].processes = [driver, other]
    assert named(stage, "html").processes("driver") == [driver]
    assert named(stage, "html").processes("worker") == []
    assert named(stage, "reader").processes("driver") == [], "it has not been started"
