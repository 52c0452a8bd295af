"""Topics that take less than the job was told at its start, on a real broker.

Set-up: traffic of which half is about one page; one of its revisions is large. Checked: when the broker refuses its
record, no later record of the page lands before it, and after a restart nothing is lost; batches of records of which
each is small enough land although all together are not, of one page and of many.
"""

from collections.abc import Callable

import pytest
from kafka.admin import ConfigResource, ConfigResourceType

from devkit.stack.topics import topic_admin
from tests.integration.crash.bench import Bench

ROOMS = ("pipeline/kafka", "pipeline/worker")
KIB = 1024
MIB = 1024 * KIB
PAGES = {"Hot": {"share": "50%"}}
TRAFFIC = {"generator": "page_change", "seed": 3, "rate": "200/s", "for": "300ms", "pages": PAGES}
LARGE = {"body": {"size": "1300KiB"}}
SETTINGS = {
    "deferral": {"inline_allowance": "60s"},
    "fetch": {"concurrency": 128, "request_timeout": "20s"},
    "sink": {"max.request.size": "8MiB"},
}
# Allowance, and how long MediaWiki takes: in the slow lane longer than the allowance, and no more than needed, as it
# takes the events of a page one after the other; in the main lane until the topic takes less.
LANES = {"main lane": ("60s", "4s"), "slow lane": ("1s", "1500ms")}


def take(bench: Bench, topic: str, limit: int) -> None:
    with topic_admin(bench.bootstrap, "alter a topic") as admin:
        setting = {"max.message.bytes": str(limit)}
        admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, setting)])


@pytest.mark.parametrize(("allowance", "latency"), LANES.values(), ids=LANES.keys())
def test_no_record_of_a_page_lands_before_one_that_is_refused(
    make_bench: Callable[..., Bench], allowance: str, latency: str
) -> None:
    deferral = {"inline_allowance": allowance, "slow_lane": {"concurrency": 64}}
    settings = SETTINGS | {"deferral": deferral, "breaker": {"policy": "none"}}
    rules = [{"name": "answer", "do": {"latency": latency}}]
    bench = make_bench(traffic=TRAFFIC, rules=rules, settings=settings)
    (hot,) = (page for page in bench.catalog if page.title == "Hot")
    # One of the first: most events of the page are behind it.
    bench.add_rule(name="large", when={"revision": hot.revisions[4].rev_id}, do=LARGE)
    bench.publish(wait=True)
    first = bench.start()
    first.await_condition(lambda: len(bench.in_flight("answer")) > 20, "the first batch to fetch")
    take(bench, bench.config.sink.topic, 1200 * KIB)
    assert first.await_end() == 1
    (failed,) = first.logged("failed")
    take(bench, bench.config.sink.topic, 8 * MIB)
    bench.remove_rule("answer")
    second = bench.start()
    bench.await_drained(second)
    assert second.terminate() == 0
    bench.assert_clean(restarted=True)
    assert f"topic {bench.config.sink.topic} refused a record of " in failed["error"]


def test_batches_are_no_larger_than_their_topic_takes(make_bench: Callable[..., Bench]) -> None:
    """Spark's producer would split what is too large into batches of the size that it was, for ever. One page comes
    again and again, every other page once.
    """
    traffic = TRAFFIC | {"for": "600ms", "population": 2000}
    rules = [{"name": "large", "do": {"body": {"size": "30KiB"}}}]
    bench = make_bench(traffic=traffic, rules=rules, settings=SETTINGS | {"sink": {"max.request.size": "400KiB"}})
    take(bench, bench.config.sink.topic, 200 * KIB)
    take(bench, bench.config.sink.error_topic, 32 * KIB)
    bench.publish(wait=True)
    run = bench.start()
    bench.await_drained(run)
    assert {line["batch_size"] for line in run.logged("limits")} == {32 * KIB}
    assert run.terminate() == 0
    bench.assert_clean(restarted=False)
