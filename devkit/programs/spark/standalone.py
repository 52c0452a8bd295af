"""A job with its default configuration on a stack that is up by itself, Spark UI on."""

from collections.abc import Mapping
from pathlib import Path

from devkit.guardian import Guardian
from devkit.programs.first_event import await_first_event
from devkit.programs.places import NOWHERE, Places
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
_SOURCE_BYTES = 8 * 1024 * 1024
_SINK_BYTES = 2 * _SOURCE_BYTES


def default_topics(job: StackJob) -> tuple[str, ...]:
    """The topics that `start_pipeline` makes afresh; the source is the first of them."""
    return tuple(_topics(_configuration(job, NOWHERE)))


def places_of(stack: Stack, job: StackJob) -> Places:
    """Where the programs of `job` find what they need."""
    return stack_places(stack, f"{stack.prefix}{job.job}", wikis=job.wikis)


def start_pipeline(guardian: Guardian, stack: Stack, logs: Path, job: StackJob) -> str:
    """Make the topics, start the job, and wait until it runs; returns the address of the Spark UI."""
    config = _configuration(job, places_of(stack, job))
    recreate_topics(stack.kafka.direct, _topics(config))
    place = SparkPlace(stack.object_store.endpoint, guardian.directory, ui=True)
    launch = prepare_launch(config, place, logs, credentials=stack.object_store.credentials())
    process = launch.spawn(guardian, "pipeline", logs=logs)
    return await_first_event(process, _spark_ui, what="the pipeline to start its query")


def _spark_ui(event: object) -> str | None:
    return event.spark_ui if isinstance(event, Started) else None


def _configuration(job: StackJob, places: Places) -> PipelineConfig:
    return configuration(places, {"sink": {"max_request_size": _SINK_BYTES}}, job.job)


def _topics(config: PipelineConfig) -> Mapping[str, tuple[int, Mapping[str, str]]]:
    """Without that of late events: nothing is written to it by default."""
    sink = config.sink
    written = {topic for _, topic in config.written_topics} - {sink.effective_lapsed_topic, config.deferral.topic}
    return {
        **dict.fromkeys(config.source.all_topics, (1, _takes(_SOURCE_BYTES))),
        **dict.fromkeys(sorted(written), (1, _takes(sink.max_request_size))),
        config.deferral.topic: (1, ledger_topic_settings(sink.max_request_size)),
    }


def _takes(size: int) -> dict[str, str]:
    return {"max.message.bytes": str(size)}
