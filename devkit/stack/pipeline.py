"""The pipeline with its default configuration on a stack that is up by itself, Spark UI on."""

import json
from datetime import timedelta
from pathlib import Path

from devkit.guardian import Guardian
from devkit.observe.logs import LineTail
from devkit.stack.command import pipeline_command
from devkit.stack.parts.running import require_running
from devkit.stack.spark import SparkPlace, spark_environment, write_spark_conf
from devkit.stack.stack import CHECKPOINTS, CLAIM_CHECKS, Stack
from devkit.stack.topics import recreate_topics
from devkit.waiting import wait_until
from pipeline.config import ClaimCheck, MediaWiki, PipelineConfig, Sink, Source

_READY = timedelta(seconds=90)
_SOURCE_SETTINGS = {"max.message.bytes": str(8 * 1024 * 1024)}


def start_pipeline(guardian: Guardian, stack: Stack, logs: Path) -> str:
    """Make the topics, start html-enrichment, and wait until it runs; returns the address of the Spark UI."""
    config = PipelineConfig(
        source=Source(bootstrap_servers=stack.kafka.bootstrap),
        sink=Sink(bootstrap_servers=stack.kafka.bootstrap),
        mediawiki=MediaWiki(endpoint=stack.mock_api.endpoint),
        checkpoint=f"s3a://{CHECKPOINTS}/{stack.prefix}html-enrichment",
        claim_check=ClaimCheck(endpoint=stack.object_store.endpoint, bucket=CLAIM_CHECKS),
    )
    recreate_topics(
        stack.kafka.bootstrap,
        {config.source.topic: (1, _SOURCE_SETTINGS), config.sink.topic: (1, {}), config.sink.error_topic: (1, {})},
    )
    config_file, conf_dir = logs / "pipeline.yaml", logs / "spark-conf"
    config_file.write_text(json.dumps(config.model_dump(mode="json", by_alias=True), indent=2))
    write_spark_conf(SparkPlace(stack.object_store.endpoint, guardian.directory, ui=True), conf_dir)
    process = guardian.spawn(
        "pipeline",
        pipeline_command(config.job, config_file, "--new", "earliest"),
        logs=logs,
        env=spark_environment(conf_dir, stack.object_store.credentials()),
        split=True,
    )
    tail = LineTail(process.stdout)

    def address() -> str | None:
        require_running(process)
        return next((str(line["spark_ui"]) for line in tail.new_lines() if line.get("event") == "started"), None)

    return wait_until(
        address, what="the pipeline to start its query", deadline=_READY, hint=f"its log is {process.stderr}"
    )
