"""The pipeline as a process of its own: where it may begin, what it refuses, how it ends.

Set-up: a real stack, a topic of its own for each test. Checked: exit codes and what is said.
"""

import json
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaProducer

from devkit.guardian import Guardian, ManagedProcess
from devkit.observe.audit.arrivals import read_topic
from devkit.programs.spark.place import SparkPlace, spark_environment, write_spark_conf
from devkit.stack.stack import CHECKPOINTS, CLAIM_CHECKS, Stack
from devkit.stack.topics import recreate_topics
from devkit.waiting import wait_until
from tests.integration.crash.warm_jvm import LAUNCHER, WarmJvm
from tests.integration.json_lines import json_lines

ROOMS = ("pipeline", "pipeline/config", "pipeline/driver", "pipeline/events")
DEADLINE = timedelta(seconds=90)


@dataclass
class Job:
    """A pipeline's configuration on the stack, and how to start a process with it."""

    config: dict[str, Any]
    start: Callable[..., ManagedProcess]

    def run_to_end(self, *arguments: str) -> tuple[int, str]:
        """Exit code and what was said on standard error; a job that begins is none that ends."""
        process = self.start(*arguments)

        def begun() -> bool:
            return any(line["event"] == "started" for line in lines_of(process))

        wait_until(lambda: process.exit_code is not None or begun(), what="the pipeline to end", deadline=DEADLINE)
        assert process.exit_code is not None, "it began all the same"
        return process.exit_code, process.stderr.read_text()


def lines_of(process: ManagedProcess) -> list[dict[str, Any]]:
    return json_lines(process.stdout)


def await_line(process: ManagedProcess, event: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        assert process.exit_code is None, process.last_words(20)
        return next((line for line in lines_of(process) if line["event"] == event), None)

    return wait_until(look, what=f"the pipeline to say {event}", deadline=DEADLINE)


@pytest.fixture
def job(stack: tuple[Guardian, Stack], warm_jvm: WarmJvm, tmp_path: Path, request: pytest.FixtureRequest) -> Job:
    guardian, parts = stack
    name = request.node.name.replace("[", "-").replace("]", "")
    config = {
        "source": {"bootstrap_servers": parts.kafka.bootstrap, "topic": f"{name}.source"},
        "sink": {
            "bootstrap_servers": parts.kafka.bootstrap,
            "topic": f"{name}.out",
            "error_topic": f"{name}.error",
        },
        "mediawiki": {"endpoint": parts.mock_api.endpoint},
        "checkpoint": f"s3a://{CHECKPOINTS}/{name}",
        "claim_check": {"endpoint": parts.object_store.endpoint, "bucket": CLAIM_CHECKS},
    }
    recreate_topics(parts.kafka.bootstrap, {f"{name}.{part}": (1, {}) for part in ("source", "out", "error")})
    conf_dir = tmp_path / "spark-conf"
    write_spark_conf(SparkPlace(parts.object_store.endpoint, guardian.directory), conf_dir)
    started = 0

    def start(*arguments: str) -> ManagedProcess:
        nonlocal started
        started += 1
        file = tmp_path / "pipeline.yaml"
        file.write_text(json.dumps(config))
        environment = spark_environment(conf_dir)
        lent = warm_jvm.lend(environment)
        program = (str(LAUNCHER),) if lent else ("-m", "pipeline")
        argv = [sys.executable, *program, "run", "html-enrichment", "--config", str(file), *arguments]
        process = guardian.spawn(f"{name}-{started}", argv, logs=tmp_path, env={**environment, **lent}, split=True)
        if lent:
            warm_jvm.lent_to(process)
        return process

    return Job(config, start)


def test_a_missing_checkpoint_is_refused_with_the_choices(job: Job) -> None:
    code, output = job.run_to_end()
    assert code == 2
    assert "holds no position to continue from" in output, "it goes on without a position"
    assert "--new earliest, latest or timestamp=" in output


def test_an_existing_checkpoint_refuses_a_new_start_and_graceful_stop_is_exit_0(job: Job) -> None:
    first = job.start("--new", "latest")
    await_line(first, "started")

    def has_position() -> bool:
        from devkit.stack.parts.object_store import s3_client

        client = s3_client(job.config["claim_check"]["endpoint"])
        prefix = job.config["checkpoint"].removeprefix(f"s3a://{CHECKPOINTS}/")
        return bool(client.list_objects_v2(Bucket=CHECKPOINTS, Prefix=f"{prefix}/sources/0/0").get("Contents"))

    wait_until(has_position, what="the first position to be in the checkpoint", deadline=DEADLINE)
    first.signal(signal.SIGTERM)
    wait_until(lambda: first.exit_code is not None, what="the pipeline to stop", deadline=DEADLINE)
    assert first.exit_code == 0, first.last_words(20)
    assert lines_of(first)[-1]["event"] == "stopped"
    code, output = job.run_to_end("--new", "earliest")
    assert code == 2
    assert "--new earliest would not be obeyed" in output


def test_a_start_that_failed_does_not_stand_in_the_way_of_the_next(job: Job) -> None:
    """A topic that is missing is said by its name, and what the metrics' port stopped has left no position."""
    topic = job.config["source"]["topic"]
    job.config["source"]["topic"] = "no.such"
    code, output = job.run_to_end("--new", "earliest")
    assert code == 2
    assert f"source.topic: there is no topic no.such at {job.config['source']['bootstrap_servers']}" in output
    job.config["source"]["topic"] = f"{topic[:-6]}out"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        job.config["metrics"] = {"port": taken.getsockname()[1]}
        code, output = job.run_to_end("--new", "earliest")
    assert code == 2, output
    job.config["source"]["topic"] = topic
    del job.config["metrics"]
    process = job.start("--new", "earliest")
    await_line(process, "started")
    process.signal(signal.SIGTERM)
    wait_until(lambda: process.exit_code is not None, what="the pipeline to stop", deadline=DEADLINE)
    assert process.exit_code == 0, process.last_words(20)


def test_a_metrics_name_used_twice_is_refused(job: Job) -> None:
    job.config["metrics"] = {"rename": {"enrichment_fetch_retries": "enrichment_events"}}
    code, output = job.run_to_end("--new", "latest")
    assert code == 2
    assert "would both be reported as enrichment_events" in output


def test_memory_that_is_given_elsewhere_and_is_more_than_the_limit_leaves_is_refused(job: Job) -> None:
    """The stack's Spark has a heap of 1 GiB."""
    code, output = job.run_to_end("--new", "latest", "--memory-limit", "4GiB", "--slots", "4")
    assert code == 2
    assert "spark.driver.memory is 1g" in output
    assert "the limit leaves" in output


def test_messages_that_are_no_events_become_bounded_error_events_and_the_stream_goes_on(job: Job) -> None:
    bad = [
        b"",
        b"not json",
        b"\xff\xfe\x00",
        b"null",
        b"[]",
        b'{"a": 1}',
        b'{"a":' * 100_000,
        b'"\\ud800"',
        b'{"wiki_id": 1e999}',
        json.dumps({"$schema": "x" * 900_000}).encode(),
    ]
    producer = KafkaProducer(bootstrap_servers=job.config["source"]["bootstrap_servers"], max_request_size=2**21)
    for number, value in enumerate(bad):
        producer.send(job.config["source"]["topic"], key=f"page {number}".encode(), value=value)
    producer.flush()
    producer.close()
    process = job.start("--new", "earliest")
    await_line(process, "batch_written")
    await_line(process, "batch_committed")
    process.signal(signal.SIGTERM)
    wait_until(lambda: process.exit_code is not None, what="the pipeline to stop", deadline=DEADLINE)
    assert process.exit_code == 0, process.last_words(20)
    rows = [line["rows"] for line in lines_of(process) if line["event"] == "batch_committed"]
    assert sum(rows) == len(bad), "the look before a batch counted as well"
    bootstrap, sink = job.config["sink"]["bootstrap_servers"], job.config["sink"]
    errors = list(read_topic(bootstrap, sink["error_topic"]))
    assert sorted(error.source[2] for error in errors if error.source) == list(range(len(bad)))
    assert all(len(error.value) < 2048 for error in errors)
    kinds = [json.loads(error.value)["error_type"] for error in errors]
    assert set(kinds) == {"malformed_json", "schema_violation", "unknown_schema"}
    assert list(read_topic(bootstrap, sink["topic"])) == []


# The producer looks for the topic for a minute. That a failed query is exit code 1 is in the crashes of deferral, too.
@pytest.mark.slow
def test_a_failing_query_ends_the_process_with_exit_1(job: Job) -> None:
    bootstrap = job.config["source"]["bootstrap_servers"]
    process = job.start("--new", "earliest")
    await_line(process, "started")
    # It was there when the job looked.
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.delete_topics([job.config["sink"]["error_topic"]])
    admin.close()
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    producer.send(job.config["source"]["topic"], value=b"not json").get(10)
    producer.close()
    wait_until(lambda: process.exit_code is not None, what="the pipeline to fail", deadline=2 * DEADLINE)
    assert process.exit_code == 1
    assert "query failed" in process.stderr.read_text()
