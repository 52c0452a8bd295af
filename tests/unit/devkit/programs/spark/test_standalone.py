"""The pipeline of a stack that is up by itself; that it runs is in the integration tests."""

import json
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from devkit.errors import StackError
from devkit.programs.places import NOWHERE
from devkit.programs.spark import place, standalone
from devkit.programs.spark.configuration import configuration
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
    jobs = [job.job] if job.before is None else [job.before.job, job.job]
    configs = [configuration(NOWHERE, {}, name) for name in jobs]
    expected = set().union(*(named(config.model_dump()) for config in configs))
    expected |= {topic for config in configs for topic in config.source.topics}
    expected |= {config.sink.effective_lapsed_topic for config in configs if config.lapses}
    assert set(default_topics(job)) == expected


def test_the_updater_has_topics_for_all_that_its_first_job_reads_and_writes() -> None:
    topics = set(default_topics(find_stack_job("rdf-updater")))
    assert topics >= {f"{centre}.mediawiki.page-suppress" for centre in ("eqiad", "codfw")}
    assert topics >= {"codfw.rdf-streaming-updater.reconcile", "rdf-streaming-updater.lapsed-action"}


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
    assert start_pipeline(guardian.real(), stack, tmp_path, HTML).spark_ui == "http://127.0.0.1:4040"
    assert set(made) == set(default_topics(HTML))
    ((name, argv, environment),) = guardian.started
    assert (name, argv[-2:]) == ("pipeline", ["--new", "earliest"])
    assert str(tmp_path / "spark-conf" / "spark-defaults.conf") in environment["PYSPARK_SUBMIT_ARGS"]
    (config_file,) = (argument for argument in argv if argument.endswith(".yaml"))
    config = PipelineConfig.model_validate(json.loads(Path(config_file).read_text()))
    assert config.checkpoint == "s3a://checkpoints/cafe/html-enrichment"
    assert disagreements(limits(config, made), config) == [], "the job would warn of the kit's own topics"


def test_jobs_about_entities_ask_their_wiki(stack: Stack, made: Made, tmp_path: Path) -> None:
    guardian = Starting(tmp_path)
    start_pipeline(guardian.real(), stack, tmp_path, find_stack_job("rdf-updater"))
    assert [name for name, _, _ in guardian.started] == ["rdf-decide", "pipeline"]
    for job, directory in (("rdf-resolve", tmp_path), ("rdf-decide", tmp_path / "rdf-decide")):
        config = PipelineConfig.model_validate(json.loads((directory / "pipeline.yaml").read_text()))
        assert (config.job, config.mediawiki.wikis) == (job, {"wikidatawiki": "www.wikidata.org"})
        assert config.checkpoint == f"s3a://checkpoints/cafe/{job}"
        assert disagreements(limits(config, made), config) == []
    assert config.updater.reorder == timedelta(seconds=1)


def limits(config: PipelineConfig, made: Made) -> Limits:
    def of(topic: str) -> int:
        return int(made[topic][1]["max.message.bytes"])

    return Limits(
        max_request_size=config.sink.max_request_size,
        buffer_memory=2 * config.sink.max_request_size,
        source_topics={topic: of(topic) for topic in config.source.all_topics},
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
