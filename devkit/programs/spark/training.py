"""The training run for Spark's class cache: the real pipeline on one message, ended in order.

It happens once on a machine, on the stack of the run that came first, and takes about a minute. A run goes on
without the cache when the training fails. Its topics are the kit's by name, and gone again afterwards.
"""

import contextlib
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psutil
from kafka import KafkaProducer

from devkit.errors import StackError
from devkit.guardian import Guardian, ManagedProcess
from devkit.guardian.processes import TREE_VARIABLE, marked
from devkit.jvm.aot import Training
from devkit.observe.logs import LineTail
from devkit.programs.spark.launch import prepare_launch
from devkit.programs.spark.place import SparkPlace, class_cache
from devkit.stack.stack import CHECKPOINTS, CLAIM_CHECKS, Stack
from devkit.stack.topics import recreate_topics, remove_topics
from devkit.waiting import wait_until
from pipeline.config import ClaimCheck, Deferral, MediaWiki, PipelineConfig, Sink, Source, ledger_topic_settings
from pipeline.events import BatchWritten

_DEADLINE = timedelta(minutes=3)
_TOPIC = "devkit.training.{}".format


def is_trained() -> bool:
    """Whether this machine has the class cache."""
    return class_cache().exists


def train(guardian: Guardian, stack: Stack, logs: Path) -> None:
    """Make the class cache, unless another run is making it now. Raises StackError, after which all is as before."""
    with class_cache().train() as training:
        if training is None:
            return
        config = training_config(stack)
        with _topics_of(config):
            process = _start(guardian, stack, config, logs, training)
            try:
                tail = LineTail(process.stdout)
                wait_until(
                    lambda: _has_written(process, tail),
                    what="the training run's batch to be written",
                    deadline=_DEADLINE,
                )
                process.signal(signal.SIGTERM)
                # The JVM writes the cache when it ends, after the driver has.
                wait_until(lambda: not _tree(guardian, process), what="the training run to end", deadline=_DEADLINE)
            finally:
                process.kill_tree()
        if not training.is_written:
            raise StackError("the JVM wrote no class cache", hint=f"its log is {process.stderr}")
        training.keep()


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


@contextlib.contextmanager
def _topics_of(config: PipelineConfig) -> Iterator[None]:
    bootstrap, sink = config.source.bootstrap_servers, config.sink
    topics: dict[str, tuple[int, dict[str, str]]] = {
        config.source.topic: (1, {}),
        sink.topic: (1, {}),
        sink.error_topic: (1, {}),
        config.deferral.topic: (1, ledger_topic_settings(sink.max_request_size)),
    }
    recreate_topics(bootstrap, topics)
    try:
        yield
    finally:
        # Without a broker there is nothing to remove, and the error that is under way says so.
        with contextlib.suppress(StackError):
            remove_topics(bootstrap, topics)


def _start(guardian: Guardian, stack: Stack, config: PipelineConfig, logs: Path, training: Training) -> ManagedProcess:
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


def _tree(guardian: Guardian, process: ManagedProcess) -> list[psutil.Process]:
    return marked(TREE_VARIABLE, f"{guardian.run_id}/{process.request}")
