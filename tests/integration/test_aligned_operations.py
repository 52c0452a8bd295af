"""Topics that grow, and the commands that move a job's position, under `source.read: aligned`.

Set-up: real broker, Spark and mock; events with times of their own. Checked: a partition that is added while the job
runs or while it is stopped is read from its beginning; a checkpoint that is set to a moment, in place or beside it, and
a fork of one continue exactly there, in every partition. Nothing is skipped and nothing leaves twice.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions

from devkit.observe.audit.arrivals import Arrival, read_topic
from devkit.stack.topics import topic_admin
from tests.integration.crash.bench import Bench

ROOMS = ("pipeline/aligned", "pipeline/ops")
MakeBench = Callable[..., Bench]
Place = tuple[str, int, int]

TRAFFIC: dict[str, Any] = {"generator": "page_change", "seed": 5, "rate": "100/s", "for": "300ms", "population": 8}
ALIGNED: dict[str, Any] = {"read": "aligned", "slice": "1h", "idle_after": "0s"}
MINUTE_MS = 60_000


def with_times(bench: Bench, *topics: str) -> None:
    """The producer's times from now on."""
    with topic_admin(bench.bootstrap, "given event times") as admin:
        kind = {"message.timestamp.type": "CreateTime"}
        admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, kind) for topic in topics])


def grow(bench: Bench, topic: str, partitions: int) -> None:
    with closing(KafkaAdminClient(bootstrap_servers=bench.bootstrap)) as admin:
        admin.create_partitions({topic: NewPartitions(partitions)})


def copy(bench: Bench, records: list[Arrival], topic: str, partition: int, *, shift_ms: int = 0) -> None:
    """The same events at another place, so much later."""
    with closing(KafkaProducer(bootstrap_servers=bench.bootstrap, acks="all")) as producer:
        for one in records:
            time_ms = one.timestamp_ms + shift_ms
            producer.send(topic, key=one.key, value=one.value, partition=partition, timestamp_ms=time_ms)
        producer.flush(60)


def emitted(bench: Bench) -> Counter[Place]:
    """How often the event of each place has left."""
    return Counter(one.source for one in [*bench.outputs(), *bench.errors()] if one.source)


def await_committed(bench: Bench, run: Any, ends: Mapping[int, int], what: str) -> None:
    run.await_condition(lambda: bench.committed() == ends, what)


@pytest.mark.slow
def test_new_partitions_are_read_from_their_beginning(make_bench: MakeBench) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings={"source": ALIGNED})
    topic = bench.config.source.topic
    with_times(bench, topic)
    bench.publish(wait=True)
    run = bench.start()
    count = bench.source_end()
    await_committed(bench, run, {0: count}, "the one partition to be read")
    records = list(read_topic(bench.bootstrap, topic))
    # While the job runs: one with later events, and one whose events are earlier than all that was read.
    grow(bench, topic, 3)
    copy(bench, records, topic, 1, shift_ms=MINUTE_MS)
    copy(bench, records, topic, 2, shift_ms=-MINUTE_MS)
    await_committed(bench, run, dict.fromkeys(range(3), count), "the new partitions to be read")
    assert run.terminate() == 0, run.process.last_words(20)
    # While it is stopped: with events, and without.
    grow(bench, topic, 5)
    copy(bench, records, topic, 3, shift_ms=2 * MINUTE_MS)
    again = bench.start()
    again.await_condition(lambda: bench.committed().get(3) == count, "the fourth partition to be read")
    copy(bench, records, topic, 4, shift_ms=3 * MINUTE_MS)
    await_committed(bench, again, dict.fromkeys(range(5), count), "the fifth partition to be read")
    assert again.terminate() == 0, again.process.last_words(20)
    found = emitted(bench)
    assert set(found.values()) == {1}
    of_first = {offset for _, partition, offset in found if partition == 0}
    assert of_first, "some are filtered, and they are the same ones in every partition"
    assert set(found) == {(topic, partition, offset) for partition in range(5) for offset in of_first}


@pytest.mark.slow
def test_a_position_that_was_moved_is_where_the_job_goes_on(make_bench: MakeBench, tmp_path: Path) -> None:
    topics = ["moved.first", "moved.second"]
    settings = {"source": {**ALIGNED, "topics": topics}, "batch": {"max_offsets": 20}}
    bench = make_bench(traffic=TRAFFIC, rules=[], settings=settings)
    with_times(bench, *topics)
    bench.publish(wait=True)
    records = list(read_topic(bench.bootstrap, topics[0]))
    # Of unlike lengths and times: a moment is another offset in each partition.
    copy(bench, records, topics[1], 0, shift_ms=-MINUTE_MS)
    copy(bench, records[:10], topics[1], 0, shift_ms=10)
    copy(bench, records, topics[0], 0, shift_ms=MINUTE_MS)
    ends = {topic: len(list(read_topic(bench.bootstrap, topic))) for topic in topics}

    def run_to_the_end() -> Counter[Place]:
        run = bench.start()
        run.await_condition(lambda: bench.committed_of_topics() == ends, "all events to be committed")
        assert run.terminate() == 0, run.process.last_words(20)
        bench.end()
        return emitted(bench)

    once = run_to_the_end()
    assert set(once.values()) == {1}
    times = {
        (topic, one.partition, one.offset): one.timestamp_ms
        for topic in topics
        for one in read_topic(bench.bootstrap, topic)
    }
    moment_ms = sorted(times.values())[len(times) // 2]
    # Kafka's own rule: from the first record of a partition that is of that time or later.
    first = {
        topic: min(at for (of, _, at), time_ms in times.items() if of == topic and time_ms >= moment_ms)
        for topic in topics
    }
    later = Counter({place: 1 for place in once if place[2] >= first[place[0]]})
    assert 0 < len(later) < len(once)
    at = datetime.fromtimestamp(moment_ms / 1000, UTC).isoformat()

    moved = command(bench, "checkpoint", "set-offsets", "--at", at, "--stopped", "--yes")
    assert f"{sum(ends.values()) - sum(first.values())} events come again, 0 are passed over" in moved
    assert bench.committed_of_topics() == first
    assert run_to_the_end() == once + later

    # Beside it, and a fork of that: the job's own stays as it is.
    beside, fork = f"{bench.config.checkpoint}-beside", str(tmp_path / "fork")
    command(bench, "checkpoint", "set-offsets", "--at", at, "--stopped", "--into", beside)
    assert bench.committed_of_topics() == ends
    name(bench, beside)
    command(bench, "checkpoint", "fork", fork)
    name(bench, fork)
    assert "can continue" in command(bench, "checkpoint", "verify")
    wanted = once + later + later
    run = bench.start()
    run.await_condition(lambda: sum(emitted(bench).values()) >= sum(wanted.values()), "them to leave once more")
    assert run.terminate() == 0, run.process.last_words(20)
    bench.end()
    assert emitted(bench) == wanted
    lag = command(bench, "lag")
    assert [line.split()[1] for line in lag.splitlines() if line.split()[:1] == ["all"]] == ["0", "0"], lag


def command(bench: Bench, *arguments: str) -> str:
    done = bench.command(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def name(bench: Bench, checkpoint: str) -> None:
    """As the job's own, from now on."""
    config = orjson.loads(bench.config_file.read_bytes())
    bench.config_file.write_bytes(orjson.dumps(config | {"checkpoint": checkpoint}))
