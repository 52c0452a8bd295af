"""A few hundred events broken in every way, through the real broker, Spark and the mock.

Set-up: healthy traffic, and in the middle of it broken events, among them a title of 10 MB. Checked: the query lives on
and commits all of it; each broken event has exactly one record, bounded and valid, or is one that the job filters.
"""

import random
from collections import Counter
from collections.abc import Callable

import orjson
from kafka import KafkaProducer

from devkit.observe.audit.arrivals import Arrival, read_topic
from devkit.scenario.stack_settings import Topics
from pipeline.jobs.enrichment import CANARY_DOMAIN
from pipeline.records.page_change import InvalidEventError, PageChange, parse
from pipeline.schemas import PAGE_CHANGE_URI, error_validator, known_fields_validator, used_fields_validator
from tests.integration.crash.bench import Bench
from tests.unit.pipeline.jobs.broken_events import EDGES, ENVELOPES, full_event, paths, with_edge
from tests.unit.pipeline.making import make_event

ROOMS = ("pipeline/jobs", "pipeline/records", "pipeline/schemas")
BROKEN = 300
TITLE_BYTES = 10_000_000
MOST_ERROR_BYTES = 4_096
TRAFFIC = {"generator": "page_change", "seed": 5, "rate": "400/s", "for": "100ms", "population": 8}
TOPICS = Topics.model_validate({"source": {"max.message.bytes": "12MiB"}})
SETTINGS = {"deferral": {"inline_allowance": "60s"}, "sink": {"max.request.size": "1MiB"}}


def broken() -> list[bytes | None]:
    whole = full_event(make_event())
    every = [with_edge(whole, place, edge) for place in paths(whole) for edge in EDGES]
    title = orjson.dumps("x" * TITLE_BYTES)
    envelopes = [envelope(orjson.dumps(whole)) for envelope in ENVELOPES]
    return [*random.Random(1).sample(every, BROKEN), *envelopes, with_edge(whole, ("page", "page_title"), title)]


def produce(bench: Bench, values: list[bytes | None]) -> None:
    producer = KafkaProducer(bootstrap_servers=bench.bootstrap, max_request_size=12 << 20, acks="all")
    sent = [
        # Those without a key count as one page, and so wait for one another; the client has no null value without one.
        producer.send(
            bench.config.source.topic, value, key=None if value and number % 20 == 0 else f"broken-{number}".encode()
        )
        for number, value in enumerate(values)
    ]
    for one in sent:
        one.get(60)
    producer.close()


def test_the_query_lives_on_and_each_has_its_one_record(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings=SETTINGS, topics=TOPICS)
    produce(bench, broken())
    bench.publish(wait=True)
    run = bench.start()
    run.await_condition(
        lambda: sum(bench.committed().values()) >= bench.source_end() and bench.deferred() == 0,
        "all events to be committed, and none deferred",
    )
    assert not run.logged("failed")
    bench.end()

    source = {(one.partition, one.offset): one for one in read_topic(bench.bootstrap, bench.config.source.topic)}
    outputs, errors = by_source(bench.outputs()), by_source(bench.errors())
    assert outputs.keys() | errors.keys() <= source.keys()
    assert not outputs.keys() & errors.keys()
    for arrival in outputs.values():
        event = orjson.loads(arrival.value)
        known = event["$schema"] == PAGE_CHANGE_URI
        (known_fields_validator() if known else used_fields_validator()).validate(event)
    for arrival in errors.values():
        assert len(arrival.value) <= MOST_ERROR_BYTES
        error_validator().validate(orjson.loads(arrival.value))
    for position, arrival in source.items():
        expected = fate(arrival)
        if isinstance(expected, str):
            assert orjson.loads(errors[position].value)["error_type"] == expected
        elif position not in outputs and position not in errors:
            assert expected.domain == CANARY_DOMAIN or expected.content_model != "wikitext"
    types = Counter(orjson.loads(arrival.value)["error_type"] for arrival in errors.values())
    assert types.keys() >= {"malformed_json", "schema_violation", "source_event_too_large"}
    assert len(source) == len(broken()) + 40


def by_source(arrivals: list[Arrival]) -> dict[tuple[int, int], Arrival]:
    """Without a repeat."""
    found = {arrival.source[1:]: arrival for arrival in arrivals if arrival.source is not None}
    assert len(found) == len(arrivals)
    return found


def fate(arrival: Arrival) -> PageChange | str:
    """The event, or with what error it has to end."""
    try:
        return parse(arrival.value, "anywhere")
    except InvalidEventError as error:
        return error.failure.error_type
