import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from devkit.debug.program_lag import PartitionLag, ProgramLag
from devkit.debug.topic_info import TopicInfo
from devkit.errors import StackError
from devkit.faults.journal import Journal
from devkit.faults.network.cut import NetworkCut
from devkit.faults.parts.pause import Pause
from devkit.observe.checkpoint import Checkpoint
from devkit.programs.places import NOWHERE
from devkit.programs.spark.configuration import CONFIG, configuration
from pipeline.config.pipeline_config import MediaWiki, PipelineConfig, Sink, Source
from tests.unit.devkit.cli.conftest import Devkit, Kept

LAG = ProgramLag(
    (PartitionLag("source", 0, 120, 161, 2.44), PartitionLag("source", 1, None, 0, None)),
    deferred=3,
)
LINKS = PartitionLag("links", 0, 5, 7, 1.0)
TOPICS = [
    TopicInfo("deferred", 1, 3, None, "compact", 1_114_124),
    TopicInfo("mediawiki.page_change.v1", 2, 1610, 4_200_000, "delete", 8 << 20),
]


@pytest.fixture
def place(kept: Kept, here: Path) -> Path:
    """A kept stack whose pipeline has a configuration file."""
    config = PipelineConfig(
        source=Source(bootstrap_servers=NOWHERE.bootstrap),
        sink=Sink(bootstrap_servers=NOWHERE.bootstrap),
        mediawiki=MediaWiki(endpoint=NOWHERE.mock_endpoint),
        checkpoint=NOWHERE.checkpoint,
    )
    file = here / "pipeline.yaml"
    file.write_bytes(CONFIG.dump_json(config, by_alias=True))
    kept(kafka="127.0.0.1:1", object_store="http://127.0.0.1:1", logs=str(here))
    return file


class TestTopics:
    @pytest.fixture(autouse=True)
    def topics(self, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
        kept(kafka="127.0.0.1:1")
        monkeypatch.setattr("devkit.debug.topic_info.topics_at", {"127.0.0.1:1": TOPICS}.__getitem__)

    def test_a_table_and_json(self, devkit: Devkit) -> None:
        assert devkit("topics").out.splitlines() == [
            "topic                    partitions   records         bytes  cleanup  max.message.bytes",
            "deferred                          1         3             ?  compact          1,114,124",
            "mediawiki.page_change.v1          2     1,610     4,200,000  delete           8,388,608",
        ]
        assert [topic["stored_bytes"] for topic in json.loads(devkit("topics", "--json").out)] == [None, 4_200_000]


class TestLag:
    @pytest.fixture(autouse=True)
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The brokers that were asked."""
        asked: list[str] = []

        def lag_of(_config: PipelineConfig, _checkpoint: Checkpoint, *, bootstrap: str, now_ms: int) -> ProgramLag:
            asked.append(bootstrap)
            return LAG

        monkeypatch.setattr("devkit.debug.program_lag.lag_of", lag_of)
        return asked

    def test_a_table_and_json(self, devkit: Devkit, place: Path) -> None:
        assert devkit("lag").out.splitlines() == [
            f"source ({place})",
            "partition  committed        end      lag  oldest waits",
            "        0        120        161       41  2.4 s",
            "        1       none          0        0",
            "lag 41, deferred 3",
        ]
        found = json.loads(devkit("lag", "--json").out)
        assert (found["lag"], found["deferred"], found["partitions"][0]["lag"]) == (41, 3, 41)

    def test_each_topic_has_a_table(self, devkit: Devkit, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        both = replace(LAG, partitions=(*LAG.partitions, LINKS))
        monkeypatch.setattr("devkit.debug.program_lag.lag_of", lambda *_, **__: both)
        assert devkit("lag").out.splitlines()[4:] == [
            f"links ({place})",
            "partition  committed        end      lag  oldest waits",
            "        0          5          7        2  1.0 s",
            "lag 43, deferred 3",
        ]
        assert json.loads(devkit("lag", "--json").out)["topics"] == ["source", "links"]

    def test_apply_has_a_table_where_the_stack_has_it(
        self, devkit: Devkit, place: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = {"SPARQL_query": "http://127.0.0.1:1/query", "SPARQL_update": "http://127.0.0.1:1/update"}
        kept(kafka="127.0.0.1:1", object_store="http://127.0.0.1:1", logs=str(place.parent), **store)
        config = place.parent / "apply" / "pipeline.yaml"
        config.parent.mkdir()
        settings = {"source": {"topic": "mutations", "group": "g"}, "apply": {"graph": None, "offset": "store"}}
        config.write_text(json.dumps(settings))
        unavailable = devkit("lag")
        assert unavailable.code == 3
        assert "the triple store did not answer http://127.0.0.1:1/query" in unavailable.err

        monkeypatch.setattr("devkit.debug.apply_lag.lag_of_apply", lambda *_, **__: PartitionLag("m", 0, 5, 7, None))
        assert devkit("lag").out.splitlines()[4:] == [
            f"m ({config})",
            "partition  committed        end      lag  oldest waits",
            "        0          5          7        2",
            "lag 41, deferred 3, to apply 2",
        ]
        assert json.loads(devkit("lag", "--json").out)["apply"]["lag"] == 2

    def test_the_job_before_has_a_table_where_the_stack_has_it(
        self, devkit: Devkit, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        config = place.parent / "rdf-decide" / "pipeline.yaml"
        config.parent.mkdir()
        config.write_bytes(CONFIG.dump_json(configuration(NOWHERE, {}, "rdf-decide"), by_alias=True))
        events = ProgramLag((PartitionLag("events", 0, 5, 7, 1.0),), None)
        monkeypatch.setattr(
            "devkit.debug.program_lag.lag_of", lambda config, *_, **__: events if config.job == "rdf-decide" else LAG
        )
        lines = devkit("lag").out.splitlines()
        assert lines[:4] == [
            f"rdf-decide ({config})",
            "partition  committed        end      lag  oldest waits",
            " events/0          5          7        2  1.0 s",
            f"source ({place})",
        ]
        assert lines[-1] == "to decide 2, lag 41, deferred 3"
        found = json.loads(devkit("lag", "--json").out)
        assert (found["decide"]["lag"], found["decide"]["topics"]) == (2, ["events"])

    def test_a_stack_behind_a_proxy_is_asked_past_it(
        self, devkit: Devkit, place: Path, kept: Kept, asked: list[str]
    ) -> None:
        kept(kafka="127.0.0.1:1", kafka_direct="127.0.0.1:2", object_store="http://127.0.0.1:1", logs=str(place.parent))
        assert devkit("lag").code == 0
        assert asked == ["127.0.0.1:2"]

    def test_what_a_fault_hides_is_not_asked_for_and_the_fault_is_named(
        self, devkit: Devkit, place: Path, asked: list[str]
    ) -> None:
        Journal("cafe0001").open("still", Pause(part="kafka"), holder=1)
        finished = devkit("lag")
        assert (finished.code, asked) == (3, [])
        assert finished.err.startswith(
            "error: the lag cannot be read: kafka does not answer while a fault holds it; "
            "hint: fault still holds kafka (pause: {part: kafka}) "
        )
        assert finished.err.endswith(", until it is removed; `devkit fault remove still --run-id cafe0001` ends it\n")

    def test_beside_a_fault_that_the_kit_goes_past(self, devkit: Devkit, place: Path) -> None:
        Journal("cafe0001").open("cut", NetworkCut(part="kafka"), holder=1)
        finished = devkit("lag")
        assert (finished.code, "lag 41" in finished.out) == (0, True)
        assert "fault          cut holds kafka" in finished.err

    def test_a_failure_beside_a_fault_names_the_fault(
        self, devkit: Devkit, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fails(*_arguments: object, **_more: object) -> ProgramLag:
            raise StackError("Kafka does not answer")

        monkeypatch.setattr("devkit.debug.program_lag.lag_of", fails)
        assert devkit("lag").err == "error: Kafka does not answer; hint: `devkit doctor` checks this machine\n"
        Journal("cafe0001").open("still", Pause(part="kafka-2"), holder=1)
        finished = devkit("lag")
        assert finished.err.startswith("error: the lag cannot be read: Kafka does not answer; hint: fault still holds")

    def test_without_a_pipeline(self, devkit: Devkit, kept: Kept) -> None:
        kept(kafka="127.0.0.1:1")
        finished = devkit("lag")
        assert (finished.code, "no pipeline was started on this stack" in finished.err) == (2, True)


@pytest.mark.parametrize(
    ("given", "asked"), [("source", "mediawiki.page_change.v1"), ("anything.else", "anything.else")]
)
def test_a_topic_by_what_it_is_to_the_pipeline(
    devkit: Devkit, place: Path, monkeypatch: pytest.MonkeyPatch, given: str, asked: str
) -> None:
    opened: list[str] = []

    class Tail:
        def __init__(self, bootstrap: str, topic: str) -> None:
            opened.append(topic)

        def __enter__(self) -> SimpleNamespace:
            return SimpleNamespace(last=lambda count: [], following=lambda: iter([]))

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr("devkit.debug.tail.TopicTail", Tail)
    assert devkit("tail", given, "-f").code == 0
    assert opened == [asked]


class TestDeferred:
    @pytest.fixture
    def ran(self, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
        commands: list[list[str]] = []

        def run(command: list[str], *, check: bool) -> SimpleNamespace:
            commands.append(command)
            return SimpleNamespace(returncode=7)

        monkeypatch.setattr(subprocess, "run", run)
        return commands

    def test_it_is_the_pipelines_own_with_its_configuration(
        self, devkit: Devkit, place: Path, ran: list[list[str]]
    ) -> None:
        assert devkit("deferred", "retry", "--all", "--wait", "3").code == 7
        ours = [sys.executable, "-m", "pipeline", "deferred"]
        assert ran == [[*ours, "retry", "--all", "--wait", "3", "--config", str(place)]]

    @pytest.mark.parametrize("arguments", [(), ("list", "--help")])
    def test_help_needs_no_stack(self, devkit: Devkit, ran: list[list[str]], arguments: tuple[str, ...]) -> None:
        assert devkit("deferred", *arguments).code == 7
        assert "--config" not in ran[0]
