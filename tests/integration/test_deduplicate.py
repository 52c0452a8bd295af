"""Repeats are dropped before they are processed, the same ones when a crash has a batch run again.

Set-up: traffic of the kit, then each of its records once more, some at once and some in later batches, records whose id
cannot be read, each twice, and beside them what only looks as if it had the id of another. The process is killed before
the state of a batch is written, and again between that and the batch's commit. Checked: what has an output or an error
event is each first record and each one without an id, nothing is lost or out of order, and the commands on the state
find what Spark has kept.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from kafka import KafkaProducer
from kafka.admin import ConfigResource, ConfigResourceType
from pyspark.sql import SparkSession

from devkit.observe.audit.arrivals import Arrival, read_topic
from devkit.stack.topics import topic_admin
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.state.deduplicate import key_of_state
from tests.integration.crash.bench import Bench
from tests.integration.crash.point import CrashPoint
from tests.integration.local_spark import local_spark

ROOMS = ("pipeline/state",)
MakeBench = Callable[..., Bench]
ID = "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a"
TRAFFIC: dict[str, Any] = {"generator": "page_change", "seed": 5, "rate": "400/s", "for": "500ms", "population": 30}
SETTINGS: dict[str, Any] = {
    "source": {"read": "aligned", "idle_after": "0s", "deduplicate": {"within": "10m"}},
    "batch": {"max_offsets": 120},
}
NOT_WRITTEN = CrashPoint(
    target="pipeline.driver.version_check:VersionCheck.require_readable", moment="before", within="_write", call=2
)
NOT_COMMITTED = CrashPoint(target="pipeline.driver.batch:write", moment="after", within="_emit", call=1)


def send(bench: Bench, records: list[tuple[bytes | None, bytes]]) -> None:
    with closing(KafkaProducer(bootstrap_servers=bench.bootstrap, acks="all")) as producer:
        for key, value in records:
            producer.send(bench.config.source.topic, key=key, value=value)
        producer.flush(60)


def id_of(value: bytes) -> str | None:
    """None for what is no JSON, of which the traffic has some, and for an event without an id."""
    try:
        found = json.loads(value)["meta"].get("id")
    except (ValueError, KeyError, TypeError):
        return None
    return str(found) if found else None


def is_wikitext_edit(value: bytes) -> bool:
    """Others may be filtered, and have no output."""
    if id_of(value) is None:
        return False
    event = json.loads(value)
    model = event["revision"].get("content_slots", {}).get("main", {}).get("content_model")
    return bool(event["page_change_kind"] == "edit" and model == "wikitext" and event["meta"].get("domain") != "canary")


def without_id(value: bytes) -> bytes:
    event = json.loads(value)
    del event["meta"]["id"]
    return json.dumps(event).encode()


@pytest.mark.slow
def test_repeats_are_dropped_and_the_same_ones_after_a_crash(make_bench: MakeBench) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings=SETTINGS)
    topic = bench.config.source.topic
    with topic_admin(bench.bootstrap, "given event times") as admin:
        settings = {"message.timestamp.type": "CreateTime"}
        admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, settings)])
    bench.publish(wait=True)
    firsts: list[Arrival] = list(read_topic(bench.bootstrap, topic))
    edits = [one for one in firsts if is_wikitext_edit(one.value)]
    nameless = [(one.key, without_id(one.value)) for one in edits[:5]]
    send(bench, [(one.key, one.value) for one in firsts] + 2 * nameless)
    end = bench.source_end()
    assert end == 2 * len(firsts) + 10
    for crash in (NOT_WRITTEN, NOT_COMMITTED):
        run = bench.start(crash=crash)
        assert run.await_end() != 0
        assert run.logged("crashing", target=crash.target, moment=crash.moment)
    run = bench.start()
    run.await_condition(lambda: sum(bench.committed().values()) >= end and bench.deferred() == 0, "all to be committed")
    run.await_condition(lambda: run.logged("state_committed"), "Spark to report the state")
    assert run.terminate() == 0
    emitted = Counter(one.source for one in [*bench.outputs(), *bench.errors()])
    first = {(topic, one.partition, one.offset) for one in firsts}
    ids = {(topic, one.partition, one.offset): id_of(one.value) for one in read_topic(bench.bootstrap, topic)}
    of_nameless = {place for place, found in ids.items() if found is None and place not in first}
    assert len(of_nameless) >= 10
    assert set(emitted) - first <= of_nameless, "no repeat has left"
    assert of_nameless <= set(emitted), "what has no id has left, however often it came"
    audit = bench.audit()
    assert (audit.lost, audit.out_of_order, audit.deferred) == (0, 0, 0)
    assert audit.inputs == len(firsts)
    shown = bench.command("checkpoint", "show")
    assert "state       deduplicate by id, " in shown.stdout, shown.stderr
    of_state = bench.command("state", "show", "--json", spark=True)
    assert of_state.returncode == 0, of_state.stderr
    state = json.loads(of_state.stdout)
    assert state["rows"] == len({found or place for place, found in ids.items()})
    assert all(one["first_expires"] for one in state["partitions"] if one["rows"])
    for line in run.logged("state_committed", batch=state["batch"]):
        assert line["rows"] == state["rows"]
        assert line["late_dropped"] == 0
    verified = bench.command("state", "verify", spark=True)
    assert verified.returncode == 0, verified.stdout + verified.stderr


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with local_spark(1) as session:
        yield session


READABLE = [
    b'{"meta": {"id": "%s"}}',
    b'{"meta": {"dt": "x", "id": "%s"}, "comment": "Gr\xc3\xb6\xc3\x9fe"} \n',
]
UNREADABLE = [
    None,
    b"",
    b"null",
    b"[]",
    b"{}",
    b'{"meta": "%s"}',
    b'{"meta": {"id": null}}',
    b'{"meta": {"id": 5}}',
    b'{"meta": {"id": ["%s"]}}',
    b'{"meta": {"id": {"id": "%s"}}}',
    b'{"meta": {"id": " %s"}}',
    b'{"meta": {"id": "%s"}',
    b'{"meta": {"id": "%s"}} more',
    b'{"meta": {"id": "%s"}}{"meta": {"id": "%s"}}',
    b'{"meta": {"id": "%s"}}}',
    b'{"meta": {"id": "%s"}}\x00}',
    b'{"meta": {"id": "%s"}},{}',
    b'{"meta": {"id": "%s"}}]{}',
    b'{"meta": {"id": "%s"}, "comment": "\xff"}',
    b"{'meta': {'id': '%s'}}",
    b'{"id": "%s"}',
    b'[{"meta": {"id": "%s"}}]',
]


def test_only_a_readable_id_makes_a_repeat(spark: SparkSession) -> None:
    config = PipelineConfig.model_validate(
        {
            "source": {"bootstrap_servers": "127.0.0.1:1", "deduplicate": {"within": "10m"}},
            "sink": {"bootstrap_servers": "127.0.0.1:1"},
            "mediawiki": {"endpoint": "http://127.0.0.1:1"},
            "checkpoint": "unused",
        }
    )
    values = [*READABLE, *UNREADABLE]
    rows = [("t", 0, at, value and value.replace(b"%s", ID.encode())) for at, value in enumerate(values)]
    frame = spark.createDataFrame(rows, "topic string, partition int, offset long, value binary")
    found = [row[0] for row in frame.select(key_of_state(config)).collect()]
    assert found == [ID, ID, *(f"t/0/{at}" for at in range(len(READABLE), len(values)))]
