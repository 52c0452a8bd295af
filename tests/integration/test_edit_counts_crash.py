"""Counts by window are the same after crashes as without: what the state holds is counted once.

Set-up: a backlog with times of its own, whose windows leave one after the other while it is read, and a canary that
lets the last ones leave. The process is killed before a batch is written, and in a later batch between the write of its
state and its commit, when windows have left already. Checked: the counts are those of the events in the topic, in the
run without a crash as well; a window that left twice left the same; the audit finds each edit in exactly one.

And a backlog of which every fifth event cannot be read, so that counts wait in the ledger behind error events of their
pages. Checked: each leaves with all the edits that it is of. Killed before the commit of a batch that deferred some,
the next process leaves these to the batch that is run again: what it finds deferred was read long before that batch,
but events before it on its page may have to leave in it.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any

import orjson
import pytest
from kafka.admin import ConfigResource, ConfigResourceType

from devkit.observe.audit.arrivals import read_topic
from devkit.stack.topics import topic_admin
from pipeline.records.page_change import InvalidEventError, parse
from tests.integration.crash.bench import Bench
from tests.integration.crash.point import CrashPoint

ROOMS = ("pipeline/jobs", "pipeline/state")
MakeBench = Callable[..., Bench]
Counts = Counter[tuple[str, int, int]]
"""Edits by wiki, page and number of the window."""

WINDOW_MS = 10_000
TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 5,
    "rate": "3/s",
    "for": "80s",
    "population": 6,
    "mix": {"not_json": "0%", "not_schema": "0%"},
    "event_times": {"published": "at once"},
    "canaries": {"closing": {"after": "5m"}},
}
SETTINGS: dict[str, Any] = {
    "job": "edit-counts",
    "source": {"read": "aligned", "slice": "15s", "idle_after": "0s", "late": "lapse", "lateness": "5s"},
    "count": {"window": "10s", "delay": "5s"},
    "batch": {"max_offsets": 40},
}
NOT_WRITTEN = CrashPoint(
    target="pipeline.driver.version_check:VersionCheck.require_readable", moment="before", within="_write", call=2
)
NOT_COMMITTED = CrashPoint(target="pipeline.driver.batch:write", moment="after", within="_emit", call=3)


def edits_of(bench: Bench) -> Counts:
    """As they stand in the source topic."""
    found: Counts = Counter()
    for arrival in read_topic(bench.bootstrap, bench.config.source.topic):
        try:
            event = parse(arrival.value, "").raw
        except InvalidEventError:
            continue
        if event["page_change_kind"] == "edit" and event["meta"].get("domain") != "canary":
            found[event["wiki_id"], event["page"]["page_id"], arrival.timestamp_ms // WINDOW_MS] += 1
    return found


def counted(bench: Bench) -> Counts:
    """What has left, each distinct output once."""
    found: Counts = Counter()
    for value in {arrival.value for arrival in bench.outputs()}:
        output = orjson.loads(value)
        begin = datetime.fromisoformat(output["window"]["start"]).timestamp()
        found[output["wiki_id"], output["page_id"], round(begin * 1000) // WINDOW_MS] += output["edits"]
    return found


def published(make_bench: MakeBench, traffic: dict[str, Any]) -> Bench:
    """A job's bench with this backlog, whose events keep their own times."""
    bench = make_bench(traffic=traffic, rules=[], settings=SETTINGS)
    with topic_admin(bench.bootstrap, "given event times") as admin:
        kept = {"message.timestamp.type": "CreateTime", "retention.ms": "-1"}
        admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, bench.config.source.topic, kept)])
    bench.publish(wait=True)
    return bench


@pytest.mark.slow
@pytest.mark.parametrize("crashes", [(), (NOT_WRITTEN, NOT_COMMITTED)], ids=["without a crash", "with two"])
def test_counts_are_the_same_after_a_crash(make_bench: MakeBench, crashes: tuple[CrashPoint, ...]) -> None:
    bench = published(make_bench, TRAFFIC)
    edits = edits_of(bench)
    assert len(edits) > 20, "several windows"
    left = []
    for crash in crashes:
        run = bench.start(crash=crash)
        assert run.await_end() != 0
        assert run.logged("crashing", target=crash.target, moment=crash.moment)
        left.append(len(bench.outputs()))
    assert not crashes or left[-1] > 0, "windows left before the last crash"
    run = bench.start()
    run.await_condition(lambda: counted(bench) == edits, "each window to leave with its edits")
    assert run.terminate() == 0, run.process.last_words(20)
    values = [arrival.value for arrival in bench.outputs()]
    assert (len(values) > len(set(values))) == bool(crashes), "the batch that was not committed left again"
    audit = bench.audit()
    assert audit.problems() == {}, audit.examples
    assert (audit.excused > 0) == bool(crashes)


@pytest.mark.slow
def test_a_count_that_was_deferred_leaves_with_all_that_it_counts(make_bench: MakeBench) -> None:
    bench = published(make_bench, {**TRAFFIC, "mix": {"not_json": "10%", "not_schema": "10%"}})
    edits = edits_of(bench)
    run = bench.start()
    run.await_condition(
        lambda: counted(bench) == edits and bench.deferred() == 0, "each window to leave with its edits"
    )
    assert run.terminate() == 0, run.process.last_words(20)
    outputs = {arrival.source: orjson.loads(arrival.value)["edits"] for arrival in bench.outputs()}
    assert any(outputs.get(position, 0) > 1 for position in bench.ever_deferred()), "counts of several were deferred"
    audit = bench.audit()
    assert audit.problems() == {}, audit.examples


@pytest.mark.slow
def test_what_was_deferred_by_a_batch_that_is_run_again_leaves_behind_it(make_bench: MakeBench) -> None:
    bench = published(make_bench, {**TRAFFIC, "mix": {"not_json": "10%", "not_schema": "10%"}})
    edits = edits_of(bench)
    crashed = bench.start(crash=NOT_COMMITTED)
    assert crashed.await_end() != 0
    assert bench.deferred() > 0, "the batch has deferred something"
    run = bench.start()
    run.await_condition(
        lambda: counted(bench) == edits and bench.deferred() == 0, "each window to leave with its edits"
    )
    assert run.terminate() == 0, run.process.last_words(20)
    run.logged("started")
    events = [line["event"] for line in run.lines]
    assert "slow_round" not in events[: events.index("batch_written")]
