"""The aligned source on a real broker and in a real Spark, beside Spark's own Kafka source.

Set-up: a topic with a partition that has an event every 300 ms of ten minutes, one that has an event a minute, and one
whose events are all of minute nine: a backlog, as after an outage. The query drops repeats within a watermark, as jobs
with a state do. Checked: what of it Spark drops as late; that a checkpoint is the same to both sources; that of a
producer whose clock goes back, what is late is told by the horizon, also after a restart and when retention has deleted
its early events; and that the horizon is right in whatever batches and transactions records lie.

And the job itself on the kit's traffic, with a second topic that is silent: a crash between emitting a batch and its
commit, a restart, and events an hour late in the silent topic. Checked: the audit, the operators' commands on its
checkpoint, and that the late ones lapse.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
import requests
from kafka import KafkaProducer
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.structs import TopicPartition
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from devkit.guardian import Guardian
from devkit.observe.audit.arrivals import read_topic
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics, topic_admin
from pipeline.aligned.kafka_log import KafkaLog
from pipeline.aligned.kafka_times import KafkaTimes
from pipeline.aligned.latest_times import LatestTimes
from pipeline.aligned.spark_source import FORMAT, AlignedOptions, AlignedSource
from pipeline.config.pipeline_config import Kafka
from pipeline.driver.job_checkpoint import watermark_ms
from pipeline.kafka.cluster import BrokersAt, brokers_of
from pipeline.ops.files import LocalFiles
from pipeline.ops.source import opened_topic
from pipeline.ops.spark_checkpoint import read_checkpoint
from pipeline.records.record import SourcePartition
from pipeline.schemas import lapsed_validator
from tests.integration.crash.bench import Bench
from tests.integration.crash.point import CrashPoint
from tests.integration.ended_transactions import await_markers
from tests.integration.local_spark import local_spark

ROOMS = ("pipeline/aligned", "pipeline/driver")
TOPIC = "aligned.source"
BEGIN_MS = 1_767_225_600_000  # 2026-01-01
MINUTE_MS = 60_000
DENSE, SPARSE, BURST = 2000, 10, 400
MAX_OFFSETS = 160
DELAY_S = 30
KEPT_FOR_EVER = {"retention.ms": "-1"}

TRAFFIC: dict[str, Any] = {"generator": "page_change", "seed": 3, "rate": "200/s", "for": "500ms", "population": 12}
WRITTEN = CrashPoint(target="pipeline.driver.batch:BatchWriter._write", moment="after", call=3)

Rows = Counter[tuple[str, int, int]]


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with local_spark(2, sql__shuffle__partitions="1", sql__session__timeZone="UTC") as session:
        session.dataSource.register(AlignedSource)
        yield session


@pytest.fixture
def bootstrap(stack: tuple[Guardian, Stack]) -> str:
    _, running = stack
    recreate_topics(running.kafka.bootstrap, {TOPIC: (3, KEPT_FOR_EVER)})
    return running.kafka.bootstrap


def publish(bootstrap: str, times: Mapping[int, list[int]]) -> None:
    """Records of these event times, by partition."""
    with closing(KafkaProducer(bootstrap_servers=bootstrap, linger_ms=50)) as producer:
        for partition, of in times.items():
            for number, time_ms in enumerate(of):
                value = f"{partition}-{time_ms}-{number}".encode()
                producer.send(TOPIC, value=value, partition=partition, timestamp_ms=time_ms)
        producer.flush(60)


def backlog() -> dict[int, list[int]]:
    return {
        0: [BEGIN_MS + number * 10 * MINUTE_MS // DENSE for number in range(DENSE)],
        1: [BEGIN_MS + number * MINUTE_MS for number in range(SPARSE)],
        2: [BEGIN_MS + 9 * MINUTE_MS + number for number in range(BURST)],
    }


def rows_of(spark: SparkSession, bootstrap: str, read: str, reached_ms: int | None = None) -> DataFrame:
    if read == "proportional":
        options: dict[str, Any] = {
            "kafka.bootstrap.servers": bootstrap,
            "subscribe": TOPIC,
            "startingOffsets": "earliest",
            "maxOffsetsPerTrigger": MAX_OFFSETS,
        }
        return spark.readStream.format("kafka").options(**options).load()
    settings = AlignedOptions(
        bootstrap_servers=bootstrap,
        topics=(TOPIC,),
        slice_ms=30_000,
        idle_after_ms=0,
        max_offsets=MAX_OFFSETS,
        initial={TOPIC: {"0": 0, "1": 0, "2": 0}},
        reached_ms=reached_ms,
    )
    return spark.readStream.format(FORMAT).option("settings", settings.model_dump_json()).load()


def drain(query: StreamingQuery) -> list[dict[str, Any]]:
    """What Spark says of its batches, when all there is has been read and the query has ended."""
    try:
        query.processAllAvailable()
        return [json.loads(one.json) for one in query.recentProgress]
    finally:
        query.stop()


@pytest.mark.slow
@pytest.mark.parametrize("read", ["proportional", "aligned"])
def test_what_a_job_with_a_watermark_loses_of_a_backlog(
    spark: SparkSession, bootstrap: str, tmp_path: Path, read: str
) -> None:
    """With Spark's own source more than half, in silence; of what is read aligned nothing."""
    publish(bootstrap, backlog())
    kept: Rows = Counter()

    def keep(batch: DataFrame, _number: int) -> None:
        kept.update((row.topic, row.partition, row.offset) for row in batch.collect())

    once = rows_of(spark, bootstrap, read).withWatermark("timestamp", f"{DELAY_S} seconds")
    once = once.dropDuplicatesWithinWatermark(["value"])
    checkpoint = tmp_path / "checkpoint"
    query = once.writeStream.foreachBatch(keep).option("checkpointLocation", str(checkpoint)).start()
    progress = drain(query)
    total = DENSE + SPARSE + BURST
    dropped = sum(of["numRowsDroppedByWatermark"] for one in progress for of in one["stateOperators"])
    assert sum(kept.values()) == len(kept) == total - dropped
    assert sum(one["numInputRows"] for one in progress) == total
    if read == "proportional":
        assert dropped > total / 2
    else:
        assert dropped == 0
        assert max(one["numInputRows"] for one in progress) <= MAX_OFFSETS


@pytest.mark.slow
def test_a_checkpoint_goes_from_one_source_to_the_other_and_back(
    spark: SparkSession, bootstrap: str, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "checkpoint"
    seen: Rows = Counter()

    def keep(batch: DataFrame, _number: int) -> None:
        seen.update((row.topic, row.partition, row.offset) for row in batch.collect())

    ends = {0: 0, 1: 0, 2: 0}
    for turn, read in enumerate(("proportional", "aligned", "proportional", "aligned", "aligned")):
        times = BEGIN_MS + turn * 10 * MINUTE_MS
        counts = {0: 200, 1: 3, 2: 50}
        publish(bootstrap, {one: [times + at * 100 for at in range(count)] for one, count in counts.items()})
        ends = {one: end + counts[one] for one, end in ends.items()}
        rows = rows_of(spark, bootstrap, read)
        drain(rows.writeStream.foreachBatch(keep).option("checkpointLocation", str(checkpoint)).start())
        found = read_checkpoint(LocalFiles("checkpoint", checkpoint))
        assert (found.committed(), found.is_committed) == ({TOPIC: ends}, True)
    assert set(seen) == {(TOPIC, one, offset) for one, end in ends.items() for offset in range(end)}
    assert set(seen.values()) == {1}


def delete_below(bootstrap: str, partition: int, offset: int) -> None:
    """As retention does."""
    with topic_admin(bootstrap, "deleted records") as admin:
        admin.delete_records({TopicPartition(TOPIC, partition): offset})


@pytest.mark.slow
@pytest.mark.parametrize("deleted", [False, True], ids=["kept", "deleted by retention"])
def test_what_a_clock_that_goes_back_makes_late_is_known_before_spark_drops_it(
    spark: SparkSession, bootstrap: str, tmp_path: Path, deleted: bool
) -> None:
    kept: Rows = Counter()
    checkpoint = tmp_path / "checkpoint"

    def keep(batch: DataFrame, _number: int) -> None:
        kept.update((row.topic, row.partition, row.offset) for row in batch.collect())

    def run() -> list[dict[str, Any]]:
        # What the topic still holds says it by itself.
        watermark = watermark_ms(spark, str(checkpoint)) if deleted else None
        rows = rows_of(spark, bootstrap, "aligned", None if watermark is None else watermark + DELAY_S * 1000)
        in_time = rows.where(f"horizon IS NULL OR timestamp >= horizon - INTERVAL {DELAY_S} SECONDS")
        once = in_time.withWatermark("timestamp", f"{DELAY_S} seconds").dropDuplicatesWithinWatermark(["value"])
        return drain(once.writeStream.foreachBatch(keep).option("checkpointLocation", str(checkpoint)).start())

    right = [BEGIN_MS + number * 100 for number in range(240)]
    early = [right[100] + 3 * MINUTE_MS + number for number in range(60)]
    publish(bootstrap, {0: [*right[:100], *early, *right[100:140]]})
    progress = run()
    assert len(kept) == 200, "none of it was late before the clock went back"
    if deleted:
        delete_below(bootstrap, 0, 200)
    publish(bootstrap, {0: right[140:], 1: [early[-1] + 1000]})
    progress += run()
    assert sum(one["numInputRows"] for one in progress) == 301
    assert sum(of["numRowsDroppedByWatermark"] for one in progress for of in one["stateOperators"]) == 0
    assert set(kept) == {(TOPIC, 0, offset) for offset in range(200)} | {(TOPIC, 1, 0)}, "the rest was told by horizon"


def publish_in_transactions(bootstrap: str, dice: random.Random) -> None:
    """Records of any times in batches of any size, of which some are aborted."""
    given: dict[str, Any] = {"transactional_id": "any times", "compression_type": "gzip", "linger_ms": 50}
    with closing(KafkaProducer(bootstrap_servers=bootstrap, **given)) as producer:
        producer.init_transactions()
        for number in range(60):
            producer.begin_transaction()
            for _ in range(dice.randint(1, 20)):
                time_ms = (
                    BEGIN_MS + number * 1000 + dice.choice([0, dice.randint(-3000, 3000), dice.randint(0, 90_000)])
                )
                producer.send(TOPIC, value=b"x" * 100, partition=dice.randint(0, 2), timestamp_ms=time_ms)
            if dice.random() < 0.2:
                producer.abort_transaction()
            else:
                producer.commit_transaction()
    await_markers(bootstrap, TOPIC)


@pytest.mark.slow
def test_the_latest_time_is_that_of_the_records_in_whatever_batches_they_lie(bootstrap: str) -> None:
    """The ends of transactions have the broker's time, which is later than all; an aborted record may be the latest."""
    dice = random.Random(11)
    publish(bootstrap, {one: [BEGIN_MS + dice.randint(0, 9000) for _ in range(200)] for one in range(3)})
    publish_in_transactions(bootstrap, dice)
    brokers: BrokersAt = brokers_of(bootstrap, Kafka())
    with closing(KafkaLog(brokers, "test", fetch_bytes=4096)) as log:
        bounds = log.bounds([TOPIC])
        read = log.read(dict.fromkeys(bounds, 0), {one: end for one, (_, end) in bounds.items()})
        times = {(one, record.offset): record.timestamp for one, records in read for record in records}
        assert sum(end for _, end in bounds.values()) - len(times) > 100, "offsets that are no events"

        def looking() -> Callable[[Mapping[SourcePartition, int]], int | None]:
            kafka, latest = KafkaTimes(log, 1000), LatestTimes(log, {})

            def below(positions: Mapping[SourcePartition, int]) -> int | None:
                around = kafka.around(positions, bounds)
                return latest.below(positions, bounds, {one: found.before_ms for one, found in around.items()})

            return below

        one_process = looking()
        for share in sorted(dice.random() for _ in range(30)):
            positions = {one: int(share * end) for one, (_, end) in bounds.items()}
            latest = max((time for (one, at), time in times.items() if at < positions[one]), default=None)
            assert one_process(positions) == latest
            assert looking()(positions) == latest


def give_times(bench: Bench, *topics: str, kind: str) -> None:
    with topic_admin(bench.bootstrap, "given times") as admin:
        setting = {"message.timestamp.type": kind}
        admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, setting) for topic in topics])


def publish_late(bench: Bench, topic: str, silent: str) -> int:
    """All events of a topic once more, in another, an hour older than they are; how many."""
    with opened_topic(bench.bootstrap, topic) as opened:
        bounds = opened.bounds()
        records = list(opened.records(bounds.first, bounds.end))
    with closing(KafkaProducer(bootstrap_servers=bench.bootstrap)) as producer:
        for record in records:
            time_ms = record.timestamp_ms - 60 * MINUTE_MS
            producer.send(silent, key=record.key, value=record.value, partition=0, timestamp_ms=time_ms)
        producer.flush(60)
    return len(records)


@pytest.mark.slow
def test_the_job_reads_aligned_through_a_crash_beside_a_silent_topic(make_bench: Callable[..., Bench]) -> None:
    source: dict[str, Any] = {
        "topics": ["aligned.busy", "aligned.silent"],
        "read": "aligned",
        "idle_after": "1s",
        "late": "lapse",
        "lateness": "1m",
    }
    settings = {"source": source, "batch": {"max_offsets": 40}, "metrics": {"port": 0}}
    bench = make_bench(traffic=TRAFFIC, rules=[], settings=settings)
    give_times(bench, *source["topics"], kind="LogAppendTime")
    refused = bench.command("run", bench.config.job, "--new", "earliest")
    assert refused.returncode == 2, "the topics have the broker's time"
    assert "message.timestamp.type of aligned.busy, aligned.silent is LogAppendTime" in refused.stderr
    give_times(bench, *source["topics"], kind="CreateTime")
    bench.publish(wait=True)
    crashed = bench.start(crash=WRITTEN)
    assert crashed.await_end() != 0
    assert 0 < sum(bench.committed().values()) < bench.source_end(), "it died between emitting a batch and its commit"
    again = bench.start()
    bench.await_drained(again)
    bench.assert_clean(restarted=True)
    late = publish_late(bench, "aligned.busy", "aligned.silent")
    lapsed = bench.config.sink.effective_lapsed_topic

    def sources() -> list[tuple[str, int, int]]:
        return sorted(arrival.source for arrival in read_topic(bench.bootstrap, lapsed) if arrival.source)

    again.await_condition(lambda: len(sources()) == late, "what the silent topic brings an hour late to lapse")
    # The planner is a process of Spark's own; what it knows is in the driver's log and metrics.
    idle = again.await_condition(lambda: again.logged("partitions_idle"), "the log to say who is taken as idle")
    assert "aligned.silent/0" in idle[0]["partitions"]
    served = requests.get(again.logged("metrics")[0]["url"], timeout=10).text
    lines = (line.rpartition(" ") for line in served.splitlines() if not line.startswith("#"))
    of = {name: float(value) for name, _, value in lines}
    common = of["enrichment_event_time_common_timestamp_seconds"]
    busy, silent = (f'{{partition="0",topic="aligned.{one}"}}' for one in ("busy", "silent"))
    assert of[f"enrichment_event_time_timestamp_seconds{busy}"] == common
    assert common - of[f"enrichment_event_time_timestamp_seconds{silent}"] > 50 * 60
    assert of[f"enrichment_event_time_held_seconds{busy}"] == 0
    assert again.terminate() == 0, again.process.last_words(20)
    assert sources() == [("aligned.silent", 0, at) for at in range(late)]
    for arrival in read_topic(bench.bootstrap, lapsed):
        event = orjson.loads(arrival.value)
        lapsed_validator().validate(event)
        assert event["behind_ms"] > 50 * MINUTE_MS
    assert {arrival.source[0] for arrival in bench.outputs() if arrival.source} == {"aligned.busy"}
    batches = [line["rows"] for line in again.logged("batch_committed")]
    assert max(batches) <= 40
    shown = bench.command("checkpoint", "show")
    assert shown.returncode == 0, shown.stderr
    rows = [line.split()[:3] for line in shown.stdout.splitlines() if line.startswith("aligned.")]
    assert ["aligned.busy", "0", str(bench.source_end())] in rows
    lag = bench.command("lag")
    assert lag.returncode == 0, lag.stderr
