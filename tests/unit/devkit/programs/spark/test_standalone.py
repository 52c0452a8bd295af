"""The pipeline of a stack that is up by itself; that it runs is in the integration tests."""

import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.errors import StackError
from devkit.programs.spark import place, standalone
from devkit.programs.spark.standalone import default_topics, start_pipeline
from devkit.programs.stack_job import StackJob, find_stack_job, stack_jobs
from devkit.stack.stack import Stack
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.kafka.limit_rules import Limits, disagreements
from tests.unit.devkit.programs.spark.test_training import named
from tests.unit.devkit.stack.fakes import FakeGuardian, FakeProcess

Made = dict[str, tuple[int, dict[str, str]]]


HTML = StackJob("html-enrichment")


@pytest.mark.parametrize("job", stack_jobs().values(), ids=stack_jobs())
def test_all_its_topics_are_known_before_they_are_made_afresh(job: StackJob) -> None:
    """On a stack of somebody else's they are asked for first."""
    config = PipelineConfig.model_validate(
        {
            "job": job.job,
            "source": {"bootstrap_servers": "127.0.0.1:1"},
            "sink": {"bootstrap_servers": "127.0.0.1:1"},
            "mediawiki": {"endpoint": "http://127.0.0.1:1"},
            "checkpoint": "s3a://nowhere/here",
        }
    )
    assert set(default_topics(job)) == named(config.model_dump())
    assert default_topics(job)[0] == config.source.topic


@dataclass
class Starting(FakeGuardian):
    """Its pipeline says that it runs, or ends at once."""

    exit_code: int | None = None

    def spawn(self, name: str, argv: list[str], *, logs: Path, **kwargs: Any) -> FakeProcess:
        process = super().spawn(name, argv, logs=logs, **kwargs)
        process.exit_code = self.exit_code
        process.stdout.write_text('{"event": "started", "spark_ui": "http://127.0.0.1:4040"}\n')
        return process


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    """The topics that were made."""
    topics: Made = {}
    monkeypatch.setattr(standalone, "recreate_topics", lambda _bootstrap, wanted: topics.update(wanted))
    monkeypatch.setattr(place, "_classpath", lambda: "a.jar")
    return topics


@pytest.fixture
def stack() -> Stack:
    part = SimpleNamespace(
        bootstrap="127.0.0.1:1", direct="127.0.0.1:2", endpoint="http://127.0.0.1:1", credentials=dict
    )
    return cast(Stack, SimpleNamespace(kafka=part, object_store=part, mock_api=part, triple_store=None, prefix="cafe/"))


def test_it_is_up_when_its_query_runs(stack: Stack, made: Made, tmp_path: Path) -> None:
    guardian = Starting(tmp_path)
    assert start_pipeline(guardian.real(), stack, tmp_path, HTML) == "http://127.0.0.1:4040"
    assert set(made) == set(default_topics(HTML))
    ((name, argv, environment),) = guardian.started
    assert (name, argv[-2:]) == ("pipeline", ["--new", "earliest"])
    assert str(tmp_path / "spark-conf" / "spark-defaults.conf") in environment["PYSPARK_SUBMIT_ARGS"]
    (config_file,) = (argument for argument in argv if argument.endswith(".yaml"))
    config = PipelineConfig.model_validate(json.loads(Path(config_file).read_text()))
    assert config.checkpoint == "s3a://checkpoints/cafe/html-enrichment"
    assert disagreements(limits(config, made), config) == [], "the job would warn of the kit's own topics"


def test_a_job_about_entities_asks_their_wiki(stack: Stack, made: Made, tmp_path: Path) -> None:
    start_pipeline(Starting(tmp_path).real(), stack, tmp_path, find_stack_job("rdf-updater"))
    config = PipelineConfig.model_validate(json.loads((tmp_path / "pipeline.yaml").read_text()))
    assert (config.job, config.mediawiki.wikis) == ("rdf-resolve", {"wikidatawiki": "www.wikidata.org"})
    assert disagreements(limits(config, made), config) == []


def limits(config: PipelineConfig, made: Made) -> Limits:
    def of(topic: str) -> int:
        return int(made[topic][1]["max.message.bytes"])

    return Limits(
        max_request_size=config.sink.max_request_size,
        buffer_memory=2 * config.sink.max_request_size,
        source_topics={config.source.topic: of(config.source.topic)},
        output_topic=of(config.sink.topic),
        error_topic=of(config.sink.error_topic),
        ledger_topic=of(config.deferral.topic),
    )


def test_nothing_of_one_that_did_not_come_up_runs_on(
    stack: Stack, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[str] = []
    monkeypatch.setattr(FakeProcess, "kill_tree", lambda self: killed.append(self.name), raising=False)
    with pytest.raises(StackError, match="pipeline ended with exit code 2"):
        start_pipeline(Starting(tmp_path, exit_code=2).real(), stack, tmp_path, HTML)
    assert killed == ["pipeline"]
