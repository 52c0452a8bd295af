"""A job of two topics of different schemas on real parts: the job of tests/unit/pipeline/jobs/links_job.py.

Set-up: page changes of the kit's traffic in the first topic, events of the job's own schema in the second, which has
partitions of the same numbers; the job asks a route that no job of the project asks. Checked: each event of either
topic leaves once, error events name its schema, and a restart continues in both.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from kafka import KafkaProducer

from devkit.observe.audit.arrivals import read_topic
from located_config.extension import load_extension
from tests.integration.crash.bench import Bench

ROOMS = ("pipeline/jobs",)
MakeBench = Callable[..., Bench]
JOB = Path(__file__).parents[1] / "unit/pipeline/jobs/links_job.py"
PAGES, LINKS = "mediawiki.page_change.v1", "acme.links_change.v1"
TRAFFIC: dict[str, Any] = {"generator": "page_change", "seed": 11, "rate": "400/s", "for": "100ms", "population": 8}
SETTINGS: dict[str, Any] = {"job": "link-count", "source": {"topics": [PAGES, LINKS]}}
BROKEN = b"no json"


@pytest.fixture
def bench(make_bench: MakeBench) -> Iterator[Bench]:
    load_extension(str(JOB), Path.cwd())
    made = make_bench(traffic=TRAFFIC, rules=[], settings=SETTINGS)
    made.publish(wait=True)
    yield made
    made.end()


def publish_links(bench: Bench) -> int:
    """One for each page change with a page, and a broken one; returns how many."""
    pages = [orjson.loads(arrival.value) for arrival in read_topic(bench.bootstrap, PAGES)]
    producer = KafkaProducer(bootstrap_servers=bench.bootstrap, acks="all")
    values = [
        orjson.dumps({"meta": {"id": f"links-{at}"}, "wiki": page["wiki_id"], "rev": page["revision"]["rev_id"]})
        for at, page in enumerate(pages)
    ]
    for value in (*values, BROKEN):
        producer.send(LINKS, value=value, key=b"links")
    producer.flush()
    producer.close()
    return len(values) + 1


def sources(bench: Bench) -> Counter[tuple[str, int, int]]:
    arrivals = [*bench.outputs(), *bench.errors()]
    return Counter(arrival.source for arrival in arrivals if arrival.source is not None)


@pytest.mark.slow
def test_both_topics_are_read_once_and_told_apart(bench: Bench) -> None:
    first = publish_links(bench)
    run = bench.start()

    def has_left(events: int) -> bool:
        return sum(1 for topic, _, _ in sources(bench) if topic == LINKS) >= events and bench.is_drained()

    run.await_condition(lambda: has_left(first), "the events of both topics to leave")
    assert run.terminate() == 0
    again = publish_links(bench)
    run = bench.start()
    run.await_condition(lambda: has_left(first + again), "the restarted job to continue in both topics")
    assert run.terminate() == 0
    found = sources(bench)
    assert set(found.values()) == {1}
    assert {topic for topic, _, _ in found} == {PAGES, LINKS}
    errors = [
        orjson.loads(arrival.value) for arrival in bench.errors() if arrival.source and arrival.source[0] == LINKS
    ]
    ends = {(one["error_type"], one["errored_stream_name"], one["errored_schema_uri"]) for one in errors}
    assert ("malformed_json", LINKS, "/acme/links/change/1.0.0") in ends
    counted = [orjson.loads(arrival.value)["links"] for arrival in bench.outputs()]
    assert any(links is not None for links in counted)
