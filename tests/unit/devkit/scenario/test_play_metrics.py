"""What an arm makes of the pipeline's own metrics, and of a start that is tried before its own."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from devkit.guardian import Guardian
from devkit.observe.arm import FirstTry
from devkit.observe.metrics import Scraper
from devkit.programs.launch import Launch
from devkit.programs.spark import place as place_module
from devkit.scenario import play as play_module
from devkit.scenario.model import Scenario, TriedFirst
from devkit.scenario.own_pipeline import OwnPipeline
from devkit.scenario.play import ArmPlay
from devkit.scenario.traffic import ScenarioTraffic
from devkit.stack.stack import Stack
from tests.unit.devkit.observe.fake_s3 import FakeS3
from tests.unit.devkit.scenario.stage import Stage


class TestMetrics:
    """What the pipeline serves is read at each sample, from the newest process and only while it lives."""

    @pytest.fixture
    def asked(self, stage: Stage) -> list[str]:
        urls: list[str] = []

        def get(url: str) -> str:
            urls.append(url)
            return f"up {len(urls)}\n"

        stage.play._scraper = Scraper(get)
        return urls

    def test_at_each_sample_once_it_is_served(self, stage: Stage, asked: list[str]) -> None:
        stage.sample()
        stage.play._events.take({"event": "metrics", "url": "http://here/metrics"})
        stage.sample()
        stage.sample()
        assert asked == ["http://here/metrics"] * 2
        assert stage.play._scraper.scraped().pages == 2

    def test_not_of_a_process_that_has_ended(self, stage: Stage, asked: list[str]) -> None:
        stage.play._events.take({"event": "metrics", "url": "http://here/metrics"})
        stage.sample()
        stage.sample(last=True)
        stage.play._events.take({"event": "process_ended", "process": 1, "exit_code": 1})
        stage.sample()
        stage.play._events.take({"event": "process_restarted", "process": 2, "pid": 7})
        stage.play._events.take({"event": "metrics", "url": "http://there/metrics"})
        stage.sample()
        assert asked == ["http://here/metrics", "http://there/metrics"]
        stage.play._scraper.write(stage.directory)
        assert (stage.directory / "metrics-1.txt").read_text() == "up 1\n"
        assert (stage.directory / "metrics-2.txt").read_text() == "up 2\n"

    def test_a_line_without_an_address_serves_nothing(self, stage: Stage, asked: list[str]) -> None:
        stage.play._events.take({"event": "metrics", "url": 7})
        stage.sample()
        assert asked == []


class TestFirstTry:
    @pytest.fixture
    def tried(self, stage: Stage, scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Launch]]:
        """Tries what the scenario says first; the start is refused."""
        launches: list[Launch] = []

        def refuse(_guardian: Guardian, launch: Launch, _logs: Path, *, require_stack: Callable[[], None]) -> FirstTry:
            require_stack()
            launches.append(launch)
            return FirstTry("two metrics of one name")

        monkeypatch.setattr(play_module, "try_start", refuse)
        monkeypatch.setattr(place_module, "_classpath", lambda: "a.jar")
        store = SimpleNamespace(endpoint="http://127.0.0.1:1", credentials=dict, client=FakeS3)
        parts = {**vars(stage.play._venue.stack), "object_store": store, "require_running": lambda: None}
        guardian = SimpleNamespace(directory=stage.directory)

        def play(tried_first: TriedFirst, own: OwnPipeline | None = None) -> list[Launch]:
            venue = replace(
                stage.play._venue,
                stack=cast(Stack, SimpleNamespace(**parts)),
                guardian=cast(Guardian, guardian),
                directory=stage.directory / "tried",
                own=own,
            )
            traffic = cast(ScenarioTraffic, SimpleNamespace(count=161))
            changed = scenario.model_copy(update={"tried_first": tried_first})
            stage.play = ArmPlay(venue, changed, "incident", traffic)
            stage.play._try_first()
            return launches

        return play

    def test_with_a_configuration_of_its_own(self, stage: Stage, tried: Callable[..., list[Launch]]) -> None:
        (launch,) = tried(TriedFirst(incident={"batch": {"max_offsets": 7}}))
        config_file = stage.directory / "tried" / "incident" / "tried-first" / "pipeline.yaml"
        assert launch.argv[-2:] == (str(config_file), "--allow-unsafe")
        config = json.loads(config_file.read_text())
        assert (config["batch"]["max_offsets"], config["checkpoint"][-12:]) == (7, "-tried-first")
        assert stage.play._state.tried_first == FirstTry("two metrics of one name")
        assert "tried first, and refused: two metrics of one name" in " ".join(stage.output.getvalue().split())

    def test_nothing_is_tried_where_nothing_is_to_be(self, stage: Stage, tried: Callable[..., list[Launch]]) -> None:
        assert tried(TriedFirst(fixed={})) == []
        assert stage.play._state.tried_first is None

    def test_somebodys_own_does_not_say_why_it_refuses(self, stage: Stage, tried: Callable[..., list[Launch]]) -> None:
        assert tried(TriedFirst(incident={}), own=OwnPipeline(("mine",), Path("/nowhere"))) == []
        assert stage.play._state.tried_first is None
