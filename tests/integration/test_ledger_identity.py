"""A restart takes the ledger that its checkpoint knows, and no other: a real job, whose topics an operator changes.

Set-up: a job that has made its checkpoint and stopped. Checked: exit codes, what is said, and that no topic was made.
"""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from kafka import KafkaAdminClient

from devkit.stack.stack import CHECKPOINTS
from devkit.stack.topics import recreate_topics
from pipeline.config.pipeline_config import ledger_topic_settings
from pipeline.deferral.ledger_log import LedgerLog
from pipeline.deferral.topic import LedgerTopic
from tests.integration.crash.bench import Bench
from tests.integration.test_checkpoint_of_another_job import with_settings
from tests.unit.pipeline.deferral.making import entry

ROOMS = ("pipeline/deferral", "pipeline/driver")
MakeBench = Callable[..., Bench]

TRAFFIC: dict[str, Any] = {"generator": "page_change", "seed": 2, "rate": "100/s", "for": "100ms", "population": 4}
MIB = 1024 * 1024


def refusal(bench: Bench, *arguments: str) -> str:
    """Start a job that is refused; what it said."""
    run = bench.start(*arguments)
    assert run.await_end() == 2, run.process.last_words(20)
    return str(run.logged("failed")[0]["error"])


@pytest.mark.slow
def test_a_ledger_that_is_not_the_checkpoints_is_refused(make_bench: MakeBench) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings={})
    bench.publish(wait=True)
    first = bench.start()
    bench.await_drained(first)
    assert first.terminate() == 0, first.process.last_words(20)
    topic, bootstrap = bench.config.deferral.topic, bench.bootstrap
    taken = first.logged("ledger")[0]
    assert taken["id"]
    assert first.logged("checkpoint")[0]["made_by"]["ledger"] == {"topic": topic, "id": taken["id"], "epoch": 1}

    with closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        admin.delete_topics([topic])
        assert "is not there, and with it what the job has deferred" in refusal(bench)
        assert topic not in admin.list_topics()

    recreate_topics(bootstrap, {topic: (1, ledger_topic_settings(MIB))})
    assert f"is not the one of this checkpoint, {topic} (id {taken['id']})" in refusal(bench)

    again = bench.start("--discard-ledger")
    again.await_line("started")
    assert again.terminate() == 0
    plain = bench.start()
    plain.await_line("started")
    assert plain.terminate() == 0

    with closing(LedgerTopic(bootstrap, topic, MIB)) as opened:
        ledger_log = LedgerLog(opened)
        ledger_log.begin()
        ledger_log.put([entry(1)])
    with_settings(bench, {"checkpoint": f"s3a://{CHECKPOINTS}/beside"})
    assert f"ledger topic {topic} holds 1 deferred events" in refusal(bench, "--new", "latest")

    with_settings(bench, {})
    recreate_topics(bootstrap, {bench.config.source.topic: (1, {})})
    assert f"id of topic {bench.config.source.topic}" in refusal(bench)
