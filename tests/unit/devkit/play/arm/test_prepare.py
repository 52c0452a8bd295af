"""What comes before an arm's programs are started: a start that the operator tries first."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.guardian import Guardian
from devkit.observe.applied_offsets import OffsetInStore
from devkit.observe.arm_observation import FirstTry
from devkit.observe.expected_output.truth import JobTruth
from devkit.observe.store_difference import EntityTruth
from devkit.observe.stored_triples import read_triples
from devkit.observe.wikibase.entity_triples import Triple
from devkit.play.arm import prepare as prepare_module
from devkit.play.arm.arm import Arm
from devkit.play.arm.prepare import prepare, try_first
from devkit.programs.command.command_line import CommandLine
from devkit.programs.command.program import CommandProgram
from devkit.programs.launch import Launch
from devkit.programs.program import Program
from devkit.programs.spark import first_try
from devkit.programs.spark import place as place_module
from devkit.programs.spark.program import SPARK
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from devkit.scenario.traffic import ScenarioTraffic
from devkit.stack.stack import Stack
from devkit.traffic.records import DumpedEntities
from tests.unit.devkit.observe.fake_s3 import FakeS3
from tests.unit.devkit.observe.memory_store import MemoryStore
from tests.unit.devkit.play.arm.stage import Stage

COMMAND = CommandProgram(CommandLine(("mine",), Path("/nowhere")))


class TestLoad:
    @pytest.fixture
    def made(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
        """Nothing of it reaches a broker."""
        monkeypatch.setattr(prepare_module, "populate", lambda _arm: None)
        monkeypatch.setattr(prepare_module, "recreate_topics", lambda _bootstrap, _topics: None)
        moment = datetime(2026, 3, 2, 9, tzinfo=UTC)
        dump = DumpedEntities(moment, moment, {"Q1": 7, "P2": 9})
        stage.arm.traffic = cast(ScenarioTraffic, SimpleNamespace(dump=dump, has_event_time=True))
        truth = SimpleNamespace(loaded=lambda: [EntityTruth("Q1", frozenset({Triple("<a:b>", "<a:c>", '"d"')}))])
        stage.arm.truth = cast(JobTruth, truth)
        return stage

    def test_a_dump_is_written_down_and_loaded(self, made: Stage) -> None:
        store = MemoryStore()
        store.change("INSERT DATA { <a:of> <a:another> <a:arm> }")
        vars(made.arm.context.stack)["triple_store"] = store
        made.arm.followers = {"apply": OffsetInStore(store, "mutations", "http://wiki/graph")}
        prepare(made.arm)
        assert made.arm.revisions_file.read_text() == "Q1,7\nP2,9\n"
        assert read_triples(store) == read_triples(store, "http://wiki/graph") == ('<a:b> <a:c> "d" .',)

    def test_without_a_store_it_is_written_down(self, made: Stage) -> None:
        prepare(made.arm)
        assert made.arm.revisions_file.exists()


class TestFirstTry:
    @pytest.fixture
    def tried(self, stage: Stage, scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Launch]]:
        """Tries what the scenario says first; the start is refused."""
        launches: list[Launch] = []

        def refuse(_guardian: Guardian, launch: Launch, _logs: Path, *, require_stack: Callable[[], None]) -> FirstTry:
            require_stack()
            launches.append(launch)
            return FirstTry("two metrics of one name")

        monkeypatch.setattr(first_try, "try_start", refuse)
        monkeypatch.setattr(place_module, "_classpath", lambda: "a.jar")
        store = SimpleNamespace(endpoint="http://127.0.0.1:1", credentials=dict, client=FakeS3)
        parts = {**vars(stage.arm.context.stack), "object_store": store, "require_running": lambda: None}
        guardian = SimpleNamespace(directory=stage.directory, run_id="run-of-test")

        def play(tried_first: dict[str, Any], program: Program = SPARK) -> list[Launch]:
            context = replace(
                stage.arm.context,
                stack=cast(Stack, SimpleNamespace(**parts)),
                guardian=cast(Guardian, guardian),
                directory=stage.directory / "tried",
            )
            traffic = cast(ScenarioTraffic, SimpleNamespace(count=161))
            changed = scenario.model_copy(update={"tried_first": tried_first})
            stage.arm = Arm(context, resolve(changed, program).arms["incident"], traffic)
            try_first(stage.arm)
            return launches

        return play

    def test_with_a_configuration_of_its_own(self, stage: Stage, tried: Callable[..., list[Launch]]) -> None:
        (launch,) = tried({"incident": {"batch": {"max_offsets": 7}}})
        config_file = stage.directory / "tried" / "incident" / "tried-first" / "pipeline.yaml"
        assert launch.argv[-2:] == (str(config_file), "--allow-unsafe")
        config = json.loads(config_file.read_text())
        assert (config["batch"]["max_offsets"], config["checkpoint"][-12:]) == (7, "-tried-first")
        assert stage.arm.state.tried_first == FirstTry("two metrics of one name")
        assert "tried first, and refused: two metrics of one name" in " ".join(stage.output.getvalue().split())

    def test_nothing_is_tried_where_nothing_is_to_be(self, stage: Stage, tried: Callable[..., list[Launch]]) -> None:
        assert tried({"fixed": {}}) == []
        assert stage.arm.state.tried_first is None

    def test_a_command_does_not_say_why_it_refuses(self, stage: Stage, tried: Callable[..., list[Launch]]) -> None:
        assert tried({"incident": {}}, COMMAND) == []
        assert stage.arm.state.tried_first is None
