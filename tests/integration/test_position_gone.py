"""A position that retention has deleted while the job was stopped.

Set-up: a real job that has committed a first lot of events and was stopped; the same events again, of which the broker
deletes the first half, as retention does. Checked: the start is refused with what is gone, `checkpoint verify` counts
it, and after `set-offsets` the job goes on with what remains, each event once. And a topic that is made again while the
job runs, with more events than it had: the job ends, and no start goes on.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from kafka.structs import TopicPartition

from devkit.stack.topics import recreate_topics, topic_admin
from tests.integration.crash.bench import Bench
from tests.integration.test_operations import EVENTS, TRAFFIC, Commands, publish, read, sources

ROOMS = ("pipeline/aligned", "pipeline/driver", "pipeline/ops")
MakeBench = Callable[..., Bench]

GONE = EVENTS + EVENTS // 2
SAYS = {
    "proportional": r"OffsetOutOfRangeException: .*offset=20\b",
    "aligned": r"begins at 30, and is to be read from 20: 10 events are lost$",
}


@pytest.mark.parametrize("how", ["proportional", "aligned"])
def test_a_position_that_is_gone_is_refused_with_the_way_on(make_bench: MakeBench, how: str) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings={"source": {"read": how}})
    topic = bench.config.source.topic
    command = Commands(bench.config_file, dict(bench.stack.object_store.credentials()))
    bench.publish(wait=True)
    run = bench.start()
    run.await_condition(lambda: sum(bench.committed().values()) == EVENTS, "all events to be committed")
    assert run.terminate() == 0
    bench.end()
    once = sources(bench)

    publish(bench, read(bench.bootstrap, topic))
    remains = datetime.fromtimestamp(read(bench.bootstrap, topic)[GONE].timestamp / 1000, UTC)
    with topic_admin(bench.bootstrap, "deleted records") as admin:
        admin.delete_records({TopicPartition(topic, 0): GONE})

    run = bench.start()
    assert run.await_end() == 2, run.process.last_words(20)
    (failed,) = run.logged("failed")
    assert re.search(SAYS[how], failed["error"])
    assert "checkpoint verify" in run.process.last_words(1)
    bench.end()
    verified = bench.command("checkpoint", "verify")
    assert (verified.returncode, f"{GONE - EVENTS} events are lost" in verified.stdout) == (2, True), verified
    if how == "aligned":
        return  # that such a job goes on is in test_aligned_operations.py
    command("checkpoint", "set-offsets", "--at", remains.isoformat(), "--stopped", "--yes")

    run = bench.start()
    run.await_condition(lambda: sum(bench.committed().values()) == 2 * EVENTS, "what remains to be committed")
    assert run.terminate() == 0
    assert sources(bench) == once | {offset + EVENTS: 1 for offset in once if offset + EVENTS >= GONE}


@pytest.mark.slow
@pytest.mark.parametrize("how", ["proportional", "aligned"])
def test_a_source_topic_that_is_made_again_ends_the_job_that_runs(make_bench: MakeBench, how: str) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings={"source": {"read": how}})
    topic = bench.config.source.topic
    bench.publish(wait=True)
    run = bench.start()
    run.await_condition(lambda: sum(bench.committed().values()) == EVENTS, "all events to be committed")
    records = read(bench.bootstrap, topic)
    recreate_topics(bench.bootstrap, {topic: (1, {})})
    publish(bench, records * 2)
    assert run.await_end() in (1, 2), "1 where the job meets the moment without a topic"
    run = bench.start()
    assert run.await_end() == 2, run.process.last_words(20)
    assert f"id of topic {topic}" in run.logged("failed")[0]["error"]
