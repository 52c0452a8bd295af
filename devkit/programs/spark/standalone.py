"""Jobs with their default configuration on a stack that is up by itself, Spark UI on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from devkit.guardian import Guardian, ManagedProcess
from devkit.programs.first_event import await_first_event
from devkit.programs.places import NOWHERE, Places, merge
from devkit.programs.spark.configuration import configuration
from devkit.programs.spark.launch import prepare_launch
from devkit.programs.spark.place import SparkPlace
from devkit.programs.stack_job import StackJob
from devkit.programs.stack_places import stack_places
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics
from pipeline.config.pipeline_config import PipelineConfig, ledger_topic_settings
from pipeline.events import Started

# A source event has to fit into its output even where that brings no content; what is larger is a claim check.
_SINK_BYTES = 16 * 1024 * 1024
_SOURCE_SHARE = 2
_PIPELINE = "pipeline"


@dataclass(frozen=True)
class StartedJobs:
    """The processes of a job and of the one before it; `spark_ui` is the job's."""

    processes: tuple[ManagedProcess, ...]
    spark_ui: str


def default_topics(job: StackJob) -> tuple[str, ...]:
    """The topics that `start_pipeline` makes afresh."""
    return tuple(_topics(job))


def places_of(stack: Stack, job: StackJob) -> Places:
    """Where the programs of `job` find what they need."""
    return stack_places(stack, f"{stack.prefix}{job.job}", wikis=job.wikis)


def start_pipeline(guardian: Guardian, stack: Stack, logs: Path, job: StackJob) -> StartedJobs:
    """Make the topics, start the job and the one before it, and wait until they run. The configuration of the one
    before it is in a directory of its name. Raises StackError.
    """
    recreate_topics(stack.kafka.direct, _topics(job))
    processes: list[ManagedProcess] = []
    for one, sink_bytes in _chain(job):
        directory = logs if one is job else logs / one.job
        directory.mkdir(exist_ok=True)
        config = _configuration(one, places_of(stack, one), sink_bytes)
        place = SparkPlace(stack.object_store.endpoint, guardian.directory, ui=True)
        launch = prepare_launch(config, place, directory, credentials=stack.object_store.credentials())
        name = _PIPELINE if one is job else one.job
        processes.append(launch.spawn(guardian, name, logs=logs))
    uis = [
        await_first_event(one, _spark_ui, what=f"{one.name} to start its query", other_programs=processes)
        for one in processes
    ]
    return StartedJobs(tuple(processes), uis[-1])


def _chain(job: StackJob, sink_bytes: int = _SINK_BYTES) -> Iterator[tuple[StackJob, int]]:
    """In the order in which an event passes them, each with the bytes of the largest record that it may write."""
    if job.before is not None:
        yield from _chain(job.before, sink_bytes // _SOURCE_SHARE)
    yield job, sink_bytes


def _spark_ui(event: object) -> str | None:
    return event.spark_ui if isinstance(event, Started) else None


def _configuration(job: StackJob, places: Places, sink_bytes: int) -> PipelineConfig:
    return configuration(places, merge({"sink": {"max_request_size": sink_bytes}}, job.settings), job.job)


def _topics(job: StackJob) -> Mapping[str, tuple[int, Mapping[str, str]]]:
    """Those of all jobs. A topic of late events is among them where the job writes to it by default."""
    topics: dict[str, tuple[int, Mapping[str, str]]] = {}
    for one, sink_bytes in _chain(job):
        config = _configuration(one, NOWHERE, sink_bytes)
        sink = config.sink
        written = {topic for _, topic in config.written_topics} - {config.deferral.topic}
        written -= set() if config.lapses else {sink.effective_lapsed_topic}
        topics |= {
            **dict.fromkeys(config.source.all_topics, (1, _takes(sink_bytes // _SOURCE_SHARE))),
            **dict.fromkeys(sorted(written), (1, _takes(sink.max_request_size))),
            config.deferral.topic: (1, ledger_topic_settings(sink.max_request_size)),
        }
    return topics


def _takes(size: int) -> dict[str, str]:
    return {"max.message.bytes": str(size)}
