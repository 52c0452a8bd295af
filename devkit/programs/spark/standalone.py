"""The pipeline with its default configuration on a stack that is up by itself, Spark UI on."""

import contextlib
from datetime import timedelta
from pathlib import Path

from devkit.errors import StackError
from devkit.guardian import Guardian
from devkit.observe.logs.log_end import written
from devkit.observe.logs.logs import LineTail
from devkit.programs.spark.launch import prepare_launch
from devkit.programs.spark.place import SparkPlace
from devkit.stack.parts.part_life import require_running
from devkit.stack.stack import CHECKPOINTS, CLAIM_CHECKS, Stack
from devkit.stack.topics import recreate_topics
from devkit.waiting import wait_until
from pipeline.config.pipeline_config import (
    ClaimCheck,
    Deferral,
    MediaWiki,
    PipelineConfig,
    Sink,
    Source,
    ledger_topic_settings,
)
from pipeline.events import Started

_READY = timedelta(seconds=90)
# A source event has to fit into its output even where that brings no content; what is larger is a claim check.
_SOURCE_BYTES = 8 * 1024 * 1024
_SINK_BYTES = 2 * _SOURCE_BYTES


def default_topics() -> tuple[str, ...]:
    """The topics that `start_pipeline` makes afresh."""
    nowhere = "127.0.0.1:1"
    return tuple(_topics(Source(bootstrap_servers=nowhere), Sink(bootstrap_servers=nowhere), Deferral()))


def start_pipeline(guardian: Guardian, stack: Stack, logs: Path) -> str:
    """Make the topics, start html-enrichment, and wait until it runs; returns the address of the Spark UI."""
    config = PipelineConfig(
        source=Source(bootstrap_servers=stack.kafka.bootstrap),
        sink=Sink(bootstrap_servers=stack.kafka.bootstrap, max_request_size=_SINK_BYTES),
        mediawiki=MediaWiki(endpoint=stack.mock_api.endpoint),
        checkpoint=f"s3a://{CHECKPOINTS}/{stack.prefix}html-enrichment",
        claim_check=ClaimCheck(endpoint=stack.object_store.endpoint, bucket=CLAIM_CHECKS),
    )
    recreate_topics(stack.kafka.direct, _topics(config.source, config.sink, config.deferral))
    place = SparkPlace(stack.object_store.endpoint, guardian.directory, ui=True)
    launch = prepare_launch(config, place, logs, credentials=stack.object_store.credentials())
    process = launch.spawn(guardian, "pipeline", logs=logs)
    tail = LineTail(process.stdout)

    def address() -> str | None:
        require_running(process)
        return next((event.spark_ui for event in tail.new_events() if isinstance(event, Started)), None)

    try:
        return wait_until(
            address,
            what="the pipeline to start its query",
            deadline=_READY,
            hint=f"its log is {written(process.stdout, process.stderr)}",
        )
    except BaseException:
        with contextlib.suppress(StackError):  # the guardian may be what is gone
            process.kill_tree()
        raise


def _topics(source: Source, sink: Sink, deferral: Deferral) -> dict[str, tuple[int, dict[str, str]]]:
    return {
        source.topic: (1, _takes(_SOURCE_BYTES)),
        sink.topic: (1, _takes(sink.max_request_size)),
        sink.error_topic: (1, _takes(sink.max_request_size)),
        deferral.topic: (1, ledger_topic_settings(sink.max_request_size)),
    }


def _takes(size: int) -> dict[str, str]:
    return {"max.message.bytes": str(size)}
