"""A source that has moved on, or that names a wiki nobody has told the job of: the job stops with exit code 2.

Set-up: events of the usual traffic, and behind them, in the same batch, events that were changed. Checked: the exit
code, the words, what was committed, and for another major version that nothing of the batch was written.
"""

import re
from collections.abc import Callable
from typing import Any

import orjson
from kafka import KafkaProducer

from devkit.observe.audit.arrivals import read_topic
from tests.integration.crash.bench import Bench

ROOMS = ("pipeline/driver", "pipeline/fetch")
MakeBench = Callable[..., Bench]

TRAFFIC: dict[str, Any] = {"generator": "page_change", "seed": 9, "rate": "1000/s", "for": "150ms", "population": 20}


def loaded(value: bytes) -> dict[str, Any]:
    try:
        event = orjson.loads(value)
    except orjson.JSONDecodeError:
        return {}
    return event if isinstance(event, dict) else {}


def published(make_bench: MakeBench, change: Callable[[dict[str, Any]], None], number: int, **settings: Any) -> Bench:
    """All in one batch, the changed ones last."""
    bench = make_bench(traffic=TRAFFIC, rules=[], settings={"batch": {"max_offsets": 1000}, **settings})
    bench.publish(wait=True)
    # The traffic has broken events, too.
    read = (loaded(one.value) for one in read_topic(bench.bootstrap, bench.config.source.topic))
    events = [event for event in read if event.get("page_change_kind") == "edit"]
    producer = KafkaProducer(bootstrap_servers=bench.bootstrap)
    for event in events[:number]:
        change(event)
        producer.send(bench.config.source.topic, key=b"changed", value=orjson.dumps(event))
    producer.close()
    return bench


def test_events_of_another_major_version_stop_the_job_before_anything_is_written(make_bench: MakeBench) -> None:
    def change(event: dict[str, Any]) -> None:
        event["$schema"] = "/mediawiki/page/change/2.0.0"

    bench = published(make_bench, change, 5)
    run = bench.start()
    assert run.await_end() == 2
    (failed,) = run.logged("failed")
    assert re.match(r"5 of 1\d\d events of batch 0 are of a major version that this job cannot read", failed["error"])
    assert (bench.outputs(), bench.errors(), bench.deferred_ever()) == ([], [], 0)
    assert bench.committed() == {}


def test_a_wiki_that_is_not_known_stops_the_job_where_it_is_told_to(make_bench: MakeBench) -> None:
    def change(event: dict[str, Any]) -> None:
        event["wiki_id"] = "xxwiki"

    bench = published(make_bench, change, 5, mediawiki={"unknown_wiki": "stop"})
    run = bench.start()
    assert run.await_end() == 2
    (failed,) = run.logged("failed")
    assert "wiki 'xxwiki' is not in mediawiki.wikis" in failed["error"]
    assert bench.committed() == {}
