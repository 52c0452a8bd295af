"""A source topic that gets more partitions while it is published to.

Set-up: the session's broker for the kit's publisher; a stack of its own for a run whose backlog was published before
its topic grew, with a program without Spark.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from devkit.faults.do import parse_do
from devkit.faults.fault import Context, MadeTopic
from devkit.guardian import Guardian
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics
from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from devkit.traffic.publish import Publisher, connect_producer, partition_index
from devkit.waiting import wait_until
from tests.integration.cli_run import CliRun
from tests.integration.poisoned_scenario import write_scenario

ROOMS = ("devkit/faults", "devkit/traffic", "devkit/verdict")
TOPIC = "grown.source"
DEADLINE = timedelta(seconds=60)
BACKLOG = """
traffic_begins: before the start
timeline:
  - { name: more partitions, do: { add_partitions: { topic: source, partitions: 8 } }, when: outputs > 5 }
"""


@contextmanager
def publishing(bootstrap: str) -> Iterator[Publisher]:
    """More traffic than any deadline of the test lasts; it is stopped at the end."""
    traffic, stop = generate(TrafficSpec.model_validate({"seed": 5, "rate": "50/s", "for": "5m"})), threading.Event()
    publisher = Publisher(traffic, TOPIC, lambda: connect_producer(bootstrap), time.monotonic, stop)
    publisher.start()
    try:
        yield publisher
    finally:
        stop.set()
        publisher.result(DEADLINE.total_seconds())


def test_the_publisher_uses_partitions_that_were_added(stack: tuple[Guardian, Stack]) -> None:
    bootstrap = stack[1].kafka.direct
    recreate_topics(bootstrap, {TOPIC: (2, {})})
    grows = parse_do({"add_partitions": {"topic": TOPIC, "partitions": 6}})
    with publishing(bootstrap) as publisher:
        wait_until(lambda: publisher.published > 20, what="some records to be out", deadline=DEADLINE)
        acting = grows.begin(Context({}, bootstrap, lambda _undo: None))
        assert acting.end().acted
        assert isinstance(acting, MadeTopic)

        def uses_all() -> bool:
            assert publisher.error is None
            return {entry.partition for entry in publisher.manifest().entries} == set(range(6))

        wait_until(uses_all, what="records in each partition, the new ones as well", deadline=DEADLINE)
        assert acting.unreached() == ""
    # From the first record on that was placed among six, each is: a page stays in its partition again.
    sent = zip(publisher.sent(), publisher.manifest().entries, strict=True)
    placed = [(record.key, entry.partition) for record, entry in sent]
    among = [partition == partition_index(key, 6) for key, partition in placed]
    last_of_two = max(place for place, is_among_six in enumerate(among) if not is_among_six)
    assert all(partition < 2 for _, partition in placed[: last_of_two + 1])


def test_its_metadata_is_young_enough_for_records_within_two_seconds(stack: tuple[Guardian, Stack]) -> None:
    with closing(connect_producer(stack[1].kafka.direct)) as producer:
        assert producer.config["metadata_max_age_ms"] <= 1000  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_run_in_which_no_traffic_reached_what_was_added_is_inconclusive(
    devkit_cli: Callable[..., CliRun], tmp_path: Path
) -> None:
    scenario = Path(write_scenario("poisoned", tmp_path))
    scenario.write_text(scenario.read_text() + BACKLOG)
    run = devkit_cli("scenario", "run", str(scenario), "--arm", "fixed", "--plain")
    assert run.wait(500) == 3, run.output()
    result = json.loads((run.evidence / "result.json").read_text())
    (reason,) = result["reasons"]
    text = "fixed: fault 'more partitions' acted, and no traffic reached what it made: no record came to partitions "
    assert reason.startswith(text)
    assert "let the fault begin earlier in the file's timeline" in run.output()
