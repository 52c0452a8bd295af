"""The training run for Spark's class cache: the real pipeline on one message, ended in order.

    train_after_verdict   after the first verdict on a machine
    train_now             because a person asks for it, also where it failed before

It takes one to two minutes, on a stack of its own, so that a run's is not kept up and nothing of it is left on an
external one. It never comes before a verdict: a run without the cache takes less time than the training. When it is
interrupted, it is tried again after the next run; when it failed, that is kept, and it is not.
"""

import os
import signal
from datetime import timedelta
from pathlib import Path

from kafka import KafkaProducer

from devkit.errors import StackError
from devkit.guardian import Guardian, ManagedProcess
from devkit.jvm.class_cache import Training
from devkit.observe.logs.log_end import in_short, written
from devkit.observe.logs.logs import LineTail
from devkit.programs.program_context import Reporter
from devkit.programs.spark.launch import prepare_launch
from devkit.programs.spark.place import SparkPlace, class_cache
from devkit.stack.embedded import start_embedded
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
from pipeline.events import BatchWritten

NO_TRAINING_VARIABLE = "DEVKIT_NO_TRAINING"
_DEADLINE = timedelta(minutes=5)
"""For the batch, and again for the cache. Quiet machines of two cores take half a minute for each."""
_TOPIC = "devkit.training.{}".format


def train_after_verdict(say: Reporter) -> None:
    """Make the class cache where there is none, no training failed, and `$DEVKIT_NO_TRAINING` is not set. Only an
    interrupt is raised: what fails here must not cost the verdict.
    """
    if os.environ.get(NO_TRAINING_VARIABLE) or not class_cache().is_wanted:
        return
    say(
        "the run is over. Making Spark's class cache takes one to two minutes, and the next run starts faster. Ctrl-C "
        f"skips it this time and leaves the verdict; {NO_TRAINING_VARIABLE}=1 skips it always"
    )
    try:
        train_now()
    except Exception as error:  # noqa: BLE001 - it is reported, and kept
        say(f"that failed and is not tried again, but by `devkit doctor --train`: {in_short(str(error))}")


def train_now() -> bool:
    """Make the class cache on a stack of its own, also where that failed before. False when another run is at it now.

    Raises what made it fail, whose words are kept.
    """
    cache = class_cache()
    cache.forget_failure()
    with cache.train() as training:
        if training is None:
            return False
        try:
            # Within the training, so that no process writes any more when what is not kept is removed.
            with Guardian() as guardian:
                _train(guardian, start_embedded(guardian, cache.logs), cache.logs, training)
            training.keep()
        except Exception as error:
            cache.keep_failure(str(error) or type(error).__name__)
            raise
    return True


def _train(guardian: Guardian, stack: Stack, logs: Path, training: Training) -> None:
    process = _start(guardian, stack, training_config(stack), logs, training)
    tail = LineTail(process.stdout)
    wait_until(
        lambda: _has_written(process, tail),
        what="the training run's batch to be written",
        deadline=_DEADLINE,
        hint=f"its log is {written(process.stdout, process.stderr)}",
    )
    process.signal(signal.SIGTERM)
    # The JVM writes the cache when it ends, after the driver has.
    wait_until(lambda: not process.tree(), what="the training run to end", deadline=_DEADLINE)
    if not training.is_written:
        raise StackError("the JVM wrote no class cache", hint=f"its log is {written(process.stdout, process.stderr)}")


def training_config(stack: Stack) -> PipelineConfig:
    """The pipeline's defaults on the stack, on topics of its own: those of a run may be in use."""
    bootstrap = stack.kafka.bootstrap
    return PipelineConfig(
        source=Source(bootstrap_servers=bootstrap, topic=_TOPIC("source")),
        sink=Sink(bootstrap_servers=bootstrap, topic=_TOPIC("out"), error_topic=_TOPIC("error")),
        mediawiki=MediaWiki(endpoint=stack.mock_api.endpoint),
        checkpoint=f"s3a://{CHECKPOINTS}/{stack.prefix}training",
        claim_check=ClaimCheck(endpoint=stack.object_store.endpoint, bucket=CLAIM_CHECKS),
        deferral=Deferral(topic=_TOPIC("deferred")),
    )


def _topics(config: PipelineConfig) -> dict[str, tuple[int, dict[str, str]]]:
    return {
        config.source.topic: (1, {}),
        config.sink.topic: (1, {}),
        config.sink.error_topic: (1, {}),
        config.deferral.topic: (1, ledger_topic_settings(config.sink.max_request_size)),
    }


def _start(guardian: Guardian, stack: Stack, config: PipelineConfig, logs: Path, training: Training) -> ManagedProcess:
    recreate_topics(config.source.bootstrap_servers, _topics(config))
    producer = KafkaProducer(bootstrap_servers=config.source.bootstrap_servers)
    producer.send(config.source.topic, value=b"one message to train with").get(timeout=30)
    producer.close()
    directory = guardian.directory / "training"
    directory.mkdir(exist_ok=True)
    place = SparkPlace(stack.object_store.endpoint, guardian.directory)
    credentials = stack.object_store.credentials()
    launch = prepare_launch(config, place, directory, credentials=credentials, jvm_options=training.options())
    return launch.spawn(guardian, "training", logs=logs)


def _has_written(process: ManagedProcess, tail: LineTail) -> bool:
    if process.exit_code is not None:
        raise StackError(f"the training run ended early: {process.last_words()}")
    return any(isinstance(event, BatchWritten) for event in tail.new_events())
