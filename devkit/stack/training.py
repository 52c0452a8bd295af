"""The training run for Spark's class cache: the real pipeline on one message, ended in order.

It happens once on a machine, on the stack of the run that came first, and takes about a minute. A run goes on
without the cache when the training fails.
"""

import json
import signal
from datetime import timedelta
from pathlib import Path

import psutil
from kafka import KafkaProducer

from devkit.errors import StackError
from devkit.guardian import Guardian, ManagedProcess
from devkit.guardian.processes import TREE_VARIABLE, marked
from devkit.jvm.aot import Training
from devkit.observe.logs import LineTail
from devkit.stack.command import pipeline_command
from devkit.stack.spark import SparkPlace, class_cache, spark_environment, write_spark_conf
from devkit.stack.stack import CHECKPOINTS, CLAIM_CHECKS, Stack
from devkit.stack.topics import recreate_topics
from devkit.waiting import wait_until

_DEADLINE = timedelta(minutes=3)
_TOPICS = {part: f"devkit.training.{part}" for part in ("source", "out", "error")}


def is_trained() -> bool:
    """Whether this machine has the class cache."""
    return class_cache().exists


def train(guardian: Guardian, stack: Stack, logs: Path) -> None:
    """Make the class cache, unless another run is making it now. Raises StackError, after which all is as before."""
    with class_cache().train() as training:
        if training is None:
            return
        process = _start(guardian, stack, logs, training)
        try:
            tail = LineTail(process.stdout)
            wait_until(
                lambda: _has_written(process, tail), what="the training run's batch to be written", deadline=_DEADLINE
            )
            process.signal(signal.SIGTERM)
            # The JVM writes the cache when it ends, after the driver has.
            wait_until(lambda: not _tree(guardian, process), what="the training run to end", deadline=_DEADLINE)
        finally:
            process.kill_tree()
        if not training.is_written:
            raise StackError("the JVM wrote no class cache", hint=f"its log is {process.stderr}")
        training.keep()


def _start(guardian: Guardian, stack: Stack, logs: Path, training: Training) -> ManagedProcess:
    bootstrap = stack.kafka.bootstrap
    recreate_topics(bootstrap, {topic: (1, {}) for topic in _TOPICS.values()})
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    producer.send(_TOPICS["source"], value=b"one message to train with").get(timeout=30)
    producer.close()
    config = {
        "source": {"bootstrap_servers": bootstrap, "topic": _TOPICS["source"]},
        "sink": {"bootstrap_servers": bootstrap, "topic": _TOPICS["out"], "error_topic": _TOPICS["error"]},
        "mediawiki": {"endpoint": stack.mock_api.endpoint},
        "checkpoint": f"s3a://{CHECKPOINTS}/{stack.prefix}training",
        "claim_check": {"endpoint": stack.object_store.endpoint, "bucket": CLAIM_CHECKS},
    }
    config_file, conf_dir = guardian.directory / "training.yaml", guardian.directory / "training-conf"
    config_file.write_text(json.dumps(config))
    place = SparkPlace(stack.object_store.endpoint, guardian.directory)
    write_spark_conf(place, conf_dir, jvm_options=training.options())
    command = pipeline_command("html-enrichment", config_file, "--new", "earliest")
    return guardian.spawn(
        "training", command, logs=logs, env=spark_environment(conf_dir, stack.object_store.credentials()), split=True
    )


def _has_written(process: ManagedProcess, tail: LineTail) -> bool:
    if process.exit_code is not None:
        raise StackError(f"the training run ended early: {process.last_words()}")
    return any(line.get("event") == "batch_written" for line in tail.new_lines())


def _tree(guardian: Guardian, process: ManagedProcess) -> list[psutil.Process]:
    return marked(TREE_VARIABLE, f"{guardian.run_id}/{process.request}")
