"""Headers of source records on their way through the job: from the topic into the output, and by way of the ledger.

Set-up: a backlog of few pages whose records have a trace, a header of the pipeline's own name and another; one page is
slower than the inline allowance. Checked: the trace is in every record, what is deferred included, and no other header
of a producer is.
"""

from collections.abc import Callable
from contextlib import closing
from typing import Any

from kafka import KafkaProducer

from pipeline.ops.source import opened_topic
from tests.integration.crash.bench import Bench

ROOMS = ("pipeline/deferral", "pipeline/records")
TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 5,
    "rate": "200/s",
    "for": "100ms",
    "population": 3,
    "pages": {"Slow": {"edits": 3}},
}
RULES: list[dict[str, Any]] = [{"name": "slow", "when": {"page": "Slow"}, "do": {"latency": "1500ms"}}]


def test_a_trace_goes_on_with_what_is_made_of_an_event(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(
        traffic=TRAFFIC,
        rules=RULES,
        settings={
            "source": {"pass_headers": ["traceparent"]},
            "deferral": {"inline_allowance": "500ms", "slow_lane": {"backoff": "500ms"}},
        },
    )
    bench.publish(wait=True)
    source, count = bench.config.source.topic, bench.source_end()
    with opened_topic(bench.bootstrap, source) as topic:
        bounds = topic.bounds()
        events = list(topic.records(bounds.first, bounds.end))
    with closing(KafkaProducer(bootstrap_servers=bench.bootstrap)) as producer:
        for event in events:
            headers = [("traceparent", b"00-%d" % event.offset), ("source-offset", b"7"), ("x-other", b"8")]
            producer.send(source, partition=event.partition, key=event.key, value=event.value, headers=headers)
        producer.flush()
    run = bench.start()
    run.await_condition(
        lambda: sum(bench.committed().values()) == 2 * count and bench.deferred() == 0, "all of it to be emitted"
    )
    assert run.terminate() == 0, run.process.last_words(20)
    traced = 0
    for arrival in (*bench.outputs(), *bench.errors()):
        assert arrival.source is not None
        offset = arrival.source[2]
        expected = {} if offset < count else {"traceparent": b"00-%d" % (offset - count)}
        others = {name for name in arrival.headers if not name.startswith("source-")}
        assert {name: arrival.headers[name] for name in others} == expected
        traced += bool(expected)
    assert traced == len({arrival.source for arrival in (*bench.outputs(), *bench.errors())}) / 2 > 0
    assert any(offset >= count for _topic, _partition, offset in bench.ever_deferred())
