"""Topics that get more partitions: a source, while the job runs and while it is stopped; and the ledger's.

Set-up: real broker, Spark and mock. Events that were in the topic's one partition are published again into new ones,
before anybody has read these. Checked: each new partition is read from its beginning, whatever the first start said;
the shares of the workers, the ledger and the lag follow.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewPartitions
from kafka.structs import TopicPartition

from tests.integration.crash.bench import Bench

ROOMS = ("pipeline/deferral", "pipeline/driver")
MakeBench = Callable[..., Bench]

TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 5,
    "rate": "100/s",
    "for": "200ms",
    "population": 8,
    "pages": {"Slow": {"edits": 1}},
}
SLOW = [{"name": "slow", "when": {"page": "Slow"}, "do": {"latency": "60s"}}]
SETTINGS: dict[str, Any] = {
    "deferral": {"inline_allowance": "2s", "slow_lane": {"deadline": "60s", "backoff": "1s"}},
    "stop_timeout": "12s",
}


def grow(bench: Bench, topic: str, partitions: int) -> None:
    admin = KafkaAdminClient(bootstrap_servers=bench.bootstrap)
    try:
        admin.create_partitions({topic: NewPartitions(partitions)})
    finally:
        admin.close()


def copy_all(bench: Bench, partitions: list[int]) -> int:
    """Publish all of partition 0 again into each of these; how many events that is for each."""
    topic = bench.config.source.topic
    place = TopicPartition(topic, 0)
    consumer = KafkaConsumer(bootstrap_servers=bench.bootstrap, enable_auto_commit=False)
    consumer.assign([place])
    consumer.seek_to_beginning(place)
    end = consumer.end_offsets([place])[place]
    records: list[Any] = []
    while len(records) < end:
        records += consumer.poll(timeout_ms=1000).get(place, [])
    consumer.close()
    producer = KafkaProducer(bootstrap_servers=bench.bootstrap)
    for partition in partitions:
        for record in records:
            producer.send(topic, key=record.key, value=record.value, partition=partition)
    producer.flush()
    producer.close()
    return len(records)


def left(bench: Bench) -> Mapping[int, set[int]]:
    """The offsets of each source partition that have left, as output or error."""
    found: dict[int, set[int]] = {}
    for record in (*bench.outputs(), *bench.errors()):
        assert record.source is not None
        found.setdefault(record.source[1], set()).add(record.source[2])
    return found


@pytest.mark.slow
def test_new_partitions_are_read_from_their_beginning(make_bench: MakeBench) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=SLOW, settings=SETTINGS)
    bench.publish(wait=True)
    run = bench.start()
    run.await_condition(lambda: bench.committed().get(0) == bench.source_end(), "the one partition to be worked off")
    assert run.logged("bounds")[-1]["workers"] == 1
    # While the job runs.
    grow(bench, bench.config.source.topic, 3)
    count = copy_all(bench, [1, 2])
    grown = {0: count, 1: count, 2: count}
    run.await_condition(lambda: bench.committed() == grown, "the new partitions to be worked off")
    run.await_condition(lambda: bench.deferred() == 3, "the slow page to be deferred in each partition")
    # How many partitions there are the job hears of with a commit, and the next batch has their number of tasks.
    run.await_line("batch_committed", batch=run.logged("batch_written")[-1]["batch"])
    copy_all(bench, [1, 2])
    grown |= {1: 2 * count, 2: 2 * count}
    run.await_condition(lambda: bench.committed() == grown, "the same events once more")
    assert run.logged("bounds")[-1]["workers"] == 3, "the bounds are shared by more"
    run.await_condition(lambda: bench.deferred() == 5, "the slow page's next events to wait behind it")
    assert run.terminate() == 0, run.process.last_words(20)
    # While it is stopped.
    grow(bench, bench.config.source.topic, 4)
    assert copy_all(bench, [3]) == count
    lag = bench.command("lag")
    assert lag.returncode == 0, lag.stderr
    assert str(count) in next(line for line in lag.stdout.splitlines() if line.split()[:1] == ["3"]), lag.stdout
    bench.remove_rule("slow")
    again = bench.start()
    again.await_condition(lambda: bench.committed() == grown | {3: count}, "the fourth partition to be worked off")
    again.await_condition(lambda: bench.deferred() == 0, "the ledger to be empty")
    assert again.terminate() == 0, again.process.last_words(20)
    offsets = left(bench)
    assert sorted(offsets) == [0, 1, 2, 3]
    assert offsets[0], "some are filtered, and they are the same ones in every partition"
    assert all({offset % count for offset in of} == offsets[0] for of in offsets.values())


@pytest.mark.slow
def test_a_ledger_that_grows_under_a_running_job_ends_it_before_an_event_is_lost(make_bench: MakeBench) -> None:
    """The producers of its tasks know the new partitions, and the driver does not."""
    bench = make_bench(traffic=TRAFFIC, rules=SLOW, settings=SETTINGS)
    run = bench.start()
    run.await_line("started")
    grow(bench, bench.config.deferral.topic, 20)
    bench.publish(wait=True)
    assert run.await_end() == 1
    (failed,) = run.logged("failed")
    assert "deferred 1 events, and 0 of them are in the partitions of" in failed["error"]
    bench.remove_rule("slow")
    again = bench.start()
    again.await_condition(lambda: sum(bench.committed().values()) == bench.source_end(), "the batch to be repeated")
    again.await_condition(lambda: bench.audit().problems() == {}, "the event to be emitted")
    assert again.terminate() == 0, again.process.last_words(20)
    bench.assert_clean(restarted=True)


@pytest.mark.slow
def test_what_is_deferred_in_a_ledger_that_has_grown_moves_into_a_new_topic(make_bench: MakeBench) -> None:
    """One of two events is resolved after the growth, so the ledger has its records in two partitions."""
    pages = {"Early": {"edits": 1}, "Late": {"edits": 1}}
    rules = [{"name": name, "when": {"page": name}, "do": {"latency": "60s"}} for name in pages]
    settings = {"deferral": {"inline_allowance": "2s", "slow_lane": {"deadline": "2s", "backoff": "1s"}}}
    bench = make_bench(traffic={**TRAFFIC, "pages": pages}, rules=rules, settings={**SETTINGS, **settings})
    ledger = bench.config.deferral.topic
    bench.publish(wait=True)
    run = bench.start()
    run.await_condition(lambda: bench.deferred() == 2, "both pages to be deferred")
    run.await_condition(lambda: sum(bench.committed().values()) == bench.source_end(), "all to be committed")
    assert run.terminate() == 0, run.process.last_words(20)
    grow(bench, ledger, 20)
    bench.remove_rule("Early")
    run = bench.start()
    run.await_line("slow_round", resolved=1)
    assert run.terminate() == 0, run.process.last_words(20)
    run = bench.start()
    assert run.await_end() == 2
    assert "in its partitions" in run.logged("failed")[0]["error"]
    moved = bench.command("deferred", "move", "moved.deferred")
    assert moved.returncode == 0, moved.stderr
    assert "1 deferred event moved" in moved.stdout
    bench.config_file.write_text(bench.config_file.read_text().replace(ledger, "moved.deferred"))
    bench.remove_rule("Late")
    run = bench.start("--adopt-ledger")
    run.await_line("slow_round", resolved=1)
    assert run.terminate() == 0, run.process.last_words(20)
    assert (run.logged("ledger")[0]["topic"], run.logged("ledger")[0]["entries"]) == ("moved.deferred", 1)
    assert bench.audit().problems() == {}
    assert len(bench.outputs()) == len({arrival.source for arrival in bench.outputs()})
    assert bench.ever_deferred() <= {arrival.source for arrival in bench.outputs()}
