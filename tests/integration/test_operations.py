"""The operations on a stopped job, with a real job, broker and store.

Set-up: events in two lots, of which a moment between is known. Steps: the job works them off and stops; show, verify,
lag; set the offsets to the moment, in place and into a new checkpoint; continue. Checked: exactly the events from the
moment on are processed again, and a job that was running all the same ends instead of going on.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.structs import TopicPartition

from devkit.guardian import Guardian
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics
from pipeline.ops.copying import Copy, copy_all, opened_target
from tests.integration.crash.bench import Bench
from tests.unit.pipeline.making import make_event

ROOMS = ("pipeline/ops",)
MakeBench = Callable[..., Bench]

TRAFFIC: dict[str, Any] = {"generator": "page_change", "seed": 5, "rate": "200/s", "for": "100ms", "population": 5}
EVENTS = 20


@dataclass(frozen=True)
class Commands:
    """`python -m pipeline` as a process, with one configuration; calling it gives what it says."""

    config_file: Path
    environment: dict[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: str, fails: int = 0) -> str:
        argv = [sys.executable, "-m", "pipeline", *arguments, "--config", str(self.config_file)]
        result = subprocess.run(
            argv, capture_output=True, text=True, timeout=120, check=False, env=os.environ | self.environment
        )
        assert result.returncode == fails, result.stderr
        return result.stderr if fails else result.stdout


def published_apart(bench: Bench) -> datetime:
    """Publish the bench's events, and the same again in the same order; the moment at which the latter begin."""
    bench.publish(wait=True)
    first = read(bench.bootstrap, bench.config.source.topic)
    assert len(first) == EVENTS
    publish(bench, first)
    records = read(bench.bootstrap, bench.config.source.topic)
    # The broker's own times: a consumer and a producer were started between the two.
    assert records[EVENTS].timestamp > records[EVENTS - 1].timestamp
    return datetime.fromtimestamp(records[EVENTS].timestamp / 1000, UTC)


def publish(bench: Bench, records: list[Any]) -> None:
    with closing(KafkaProducer(bootstrap_servers=bench.bootstrap)) as producer:
        for one in records:
            producer.send(one.topic, key=one.key, value=one.value, partition=one.partition)
        producer.flush()


def read(bootstrap: str, topic: str) -> list[Any]:
    """All records of a topic."""
    with closing(KafkaConsumer(bootstrap_servers=bootstrap, consumer_timeout_ms=20_000)) as consumer:
        places = [TopicPartition(topic, number) for number in consumer.partitions_for_topic(topic)]
        left = sum(consumer.end_offsets(places).values())
        consumer.assign(places)
        consumer.seek_to_beginning(*places)
        return [next(consumer) for _ in range(left)]


def sources(bench: Bench) -> Counter[int]:
    """How often the event of each source offset has left."""
    return Counter(source[2] for arrival in [*bench.outputs(), *bench.errors()] if (source := arrival.source))


@pytest.mark.slow
def test_a_stopped_job_continues_from_the_moment_that_it_is_set_to(make_bench: MakeBench, tmp_path: Path) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings={})
    command = Commands(bench.config_file, dict(bench.stack.object_store.credentials()))
    moment = published_apart(bench)
    at = moment.isoformat()
    run = bench.start()
    run.await_condition(lambda: sum(bench.committed().values()) == 2 * EVENTS, "all events to be committed")
    assert run.terminate() == 0
    bench.end()
    once = sources(bench)
    assert set(once.values()) == {1}
    # Some events of each lot are filtered, the same ones.
    assert {offset + EVENTS for offset in once if offset < EVENTS} == {offset for offset in once if offset >= EVENTS}

    def times(later: int) -> dict[int, int]:
        """What has left when the first lot was processed once, and the other so often."""
        return {offset: 1 if offset < EVENTS else later for offset in once}

    shown = command("checkpoint", "show")
    assert re.search(r"query id +[0-9a-f-]{36}\n", shown)
    assert re.search(rf"{re.escape(bench.config.source.topic)} +0 +{2 * EVENTS} +-\n", shown)
    assert "can continue" in command("checkpoint", "verify")
    assert command("lag").splitlines()[-1].split() == ["all", "0", "0.0"]

    # It has just written, and it is its own checkpoint that would be set.
    assert "does the job run?" in command("checkpoint", "set-offsets", "--at", at, fails=2)
    assert "--yes sets it" in command("checkpoint", "set-offsets", "--at", at, "--stopped", fails=2)
    output = command("checkpoint", "set-offsets", "--at", at, "--stopped", "--yes")
    assert f"0:{2 * EVENTS} -> 0:{EVENTS}\n{EVENTS} events come again, 0 are passed over\n" in output
    assert command("lag").splitlines()[-1].split()[:2] == ["all", str(EVENTS)]
    assert "can continue" in command("checkpoint", "verify")
    run = bench.start()
    run.await_condition(lambda: sum(bench.committed().values()) == 2 * EVENTS, "the later events to be committed")
    assert sources(bench) == times(2)

    # Who says that a job is stopped which is not ends it: its next batch is taken.
    command("checkpoint", "set-offsets", "--at", at, "--stopped", "--yes")
    records = read(bench.bootstrap, bench.config.source.topic)
    publish(bench, [records[min(once)]])
    assert run.await_end() == 1
    assert run.logged("failed")
    bench.end()
    assert sources(bench) == times(2)

    # A checkpoint beside it, and a fork of that; the old one is as it was.
    place, fork = f"{bench.config.checkpoint}-beside", str(tmp_path / "fork")
    command("checkpoint", "set-offsets", "--at", at, "--stopped", "--into", place)
    config = json.loads(bench.config_file.read_bytes())
    bench.config_file.write_bytes(orjson.dumps(config | {"checkpoint": place}))
    command("checkpoint", "fork", fork)
    bench.config_file.write_bytes(orjson.dumps(config | {"checkpoint": fork}))
    assert "can continue" in command("checkpoint", "verify")
    assert command("lag").splitlines()[-1].split()[:2] == ["all", str(EVENTS + 1)]
    run = bench.start()
    expected = times(3) | {2 * EVENTS: 1}
    run.await_condition(lambda: sum(sources(bench).values()) >= sum(expected.values()), "them to leave once more")
    assert run.terminate() == 0
    bench.end()
    assert sources(bench) == expected


def test_a_copy_goes_without_its_null_headers(stack: tuple[Guardian, Stack]) -> None:
    bootstrap = stack[1].kafka.bootstrap
    recreate_topics(bootstrap, {"operations.headers": (1, {})})
    with opened_target(bootstrap, "operations.headers", 1_000_000) as target:
        assert copy_all([Copy(b"k", None, (("a", b"1"), ("none", None), ("a", b"")))], target) == 1
    (one,) = read(bootstrap, "operations.headers")
    assert (one.key, one.value, one.headers) == (b"k", None, [("a", b"1"), ("a", b"")])


def test_a_copy_of_nothing_but_headers_is_sent(stack: tuple[Guardian, Stack]) -> None:
    bootstrap = stack[1].kafka.bootstrap
    recreate_topics(bootstrap, {"operations.nothing": (1, {})})
    with opened_target(bootstrap, "operations.nothing", 1_000_000) as target:
        assert copy_all([Copy(None, None, (("a", b"1"),)), Copy(b"k", None, ())], target) == 2
    assert [(one.key, one.value) for one in read(bootstrap, "operations.nothing")] == [(None, b""), (b"k", None)]


def test_replay_and_fan_out(stack: tuple[Guardian, Stack], tmp_path: Path) -> None:
    """Set-up: 3 partitions, keys that are not pages'. Checked: what arrives, where, in which order."""
    bootstrap = stack[1].kafka.bootstrap
    names = {"operations.src": 3, "operations.replay": 3}
    recreate_topics(bootstrap, {name: (count, {"max.message.bytes": "2000000"}) for name, count in names.items()})
    begin_ms = int(time.time() * 1000) - 100_000
    with closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
        for number in range(60):
            made = make_event(page_id=number % 12, comment=str(number))
            producer.send(
                "operations.src",
                key=str(number).encode(),
                value=orjson.dumps(made),
                headers=[("h", b"kept")],
                partition=number % 3,
                timestamp_ms=begin_ms + number * 1000,
            )
        producer.flush()
    bench_file = tmp_path / "pipeline.yaml"
    least = {
        "source": {"bootstrap_servers": bootstrap, "topic": "operations.src"},
        "sink": {"bootstrap_servers": bootstrap},
        "mediawiki": {"endpoint": "http://127.0.0.1:1"},
        "checkpoint": str(tmp_path / "none"),
    }
    bench_file.write_bytes(orjson.dumps(least))
    command = Commands(bench_file)

    at = datetime.fromtimestamp(begin_ms / 1000 + 45, UTC).isoformat()
    arguments = ["replay", "--from", at, "--to", "latest", "--into", "operations.replay", "--rate", "1000"]
    assert "15 events, 0 s at 1000 a second; none is sent" in command(*arguments, "--dry-run")
    assert read(bootstrap, "operations.replay") == []
    assert "15 events replayed into operations.replay" in command(*arguments)
    replays = read(bootstrap, "operations.replay")
    assert sorted(json.loads(one.value)["comment"] for one in replays) == sorted(map(str, range(45, 60)))
    one = next(one for one in replays if json.loads(one.value)["comment"] == "45")
    assert (one.partition, one.key) == (0, b"45")
    assert dict(one.headers) == {
        "h": b"kept",
        "replayed-from": b"operations.src/0/15",
        "replayed-timestamp-ms": str(begin_ms + 45_000).encode(),
    }
    # Into the topic itself: its end is where it was when the command began.
    same = ["replay", "--from", "0:0,2:1", "--to", "0:2,1:5,2:3", "--into", "operations.src", "--rate", "1000"]
    assert "4 events replayed" in command(*same)
    again = [one for one in read(bootstrap, "operations.src") if one.offset >= 20]
    assert [one.key for one in again if one.partition == 0] == [b"0", b"3"]
    assert [one.key for one in again if one.partition == 2] == [b"5", b"8"]

    wide = ["fan-out", "operations.src", "operations.wide", "--partitions", "8"]
    assert "64 events copied into operations.wide, 8 partitions" in command(*wide)
    copies = read(bootstrap, "operations.wide")
    pages: dict[int, list[Any]] = {}
    for one in copies:
        pages.setdefault(json.loads(one.value)["page"]["page_id"], []).append(one)
    assert len(pages) == 12
    assert len({one.partition for one in copies}) > 3
    for of_page in pages.values():
        assert len({(one.partition, one.key) for one in of_page}) == 1
        places = [dict(one.headers)["copied-from"].decode().split("/") for one in of_page]
        # A page of this traffic stands in one source partition.
        assert [int(offset) for *_, offset in places] == sorted(int(offset) for *_, offset in places)
    with closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        described = admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, "operations.wide")])
        assert described["topic"]["operations.wide"]["max.message.bytes"]["value"] == "2000000"
        # The copy goes on following the broker's defaults.
        of_topic = [
            name
            for name, setting in described["topic"]["operations.wide"].items()
            if setting["config_source"] == "DYNAMIC_TOPIC_CONFIG"
        ]
        assert of_topic == ["max.message.bytes"]
    for refused in (["operations bad"], ["operations.broad", "--partitions", "100000"]):
        output = command("fan-out", "operations.src", *refused, fails=2)
        assert "could not be made: " in output
        assert len(output) < 400, output
    assert "holds 64 records" in command(*wide, fails=2)
    assert "with 3 partitions, not 32" in command("fan-out", "operations.src", "operations.replay", fails=2)


def test_a_replay_that_is_stopped_goes_on_where_it_says(stack: tuple[Guardian, Stack], tmp_path: Path) -> None:
    """Set-up: 40 events of 2 partitions. Steps: a slow replay, Ctrl-C, what its hint says. Checked: each once."""
    bootstrap = stack[1].kafka.bootstrap
    recreate_topics(bootstrap, {"stopped.src": (2, {}), "stopped.replay": (2, {})})
    with closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
        for number in range(40):
            producer.send("stopped.src", value=b"%d" % number, partition=number % 2)
        producer.flush()
    config = {
        "source": {"bootstrap_servers": bootstrap, "topic": "stopped.src"},
        "sink": {"bootstrap_servers": bootstrap},
        "mediawiki": {"endpoint": "http://127.0.0.1:1"},
        "checkpoint": str(tmp_path / "none"),
    }
    file = tmp_path / "pipeline.yaml"
    file.write_bytes(orjson.dumps(config))
    arguments = ["replay", "--from", "earliest", "--to", "latest", "--into", "stopped.replay"]
    argv = [sys.executable, "-m", "pipeline", *arguments, "--rate", "1", "--config", str(file)]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        while not read(bootstrap, "stopped.replay"):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, output = process.communicate(timeout=60)
    assert process.returncode == 130, output
    sent = read(bootstrap, "stopped.replay")
    assert f"stopped, with {len(sent)} records sent" in output
    again = output.splitlines()[-1].removeprefix("hint: it goes on with ").split()
    assert f"{40 - len(sent)} events replayed" in Commands(file)("replay", *again, "--rate", "1000")
    assert sorted(int(one.value) for one in read(bootstrap, "stopped.replay")) == list(range(40))


@pytest.mark.parametrize("arguments", [["checkpoint", "verify"], ["lag"]])
def test_a_broker_that_is_down_is_named(arguments: list[str], tmp_path: Path) -> None:
    checkpoint = Path(__file__).parents[1] / "unit/pipeline/ops/checkpoints/stopped"
    file = tmp_path / "pipeline.yaml"
    nowhere = {"bootstrap_servers": "127.0.0.1:1"}
    file.write_bytes(
        orjson.dumps(
            {
                "source": nowhere,
                "sink": nowhere,
                "mediawiki": {"endpoint": "http://127.0.0.1:1"},
                "checkpoint": str(checkpoint),
            }
        )
    )
    output = Commands(file)(*arguments, fails=1)
    assert "Kafka at 127.0.0.1:1 does not answer" in output
    assert "bootstrap_servers" in output
