"""An outage of one wiki stops no other, and one of what many small wikis share is an outage of the endpoint.

Set-up: all events are in the source, and an upstream that answers 503 to the requests for some wikis until the test
mends it. Events have two tries in all, without a pause between them: they would not outlast an outage that cost any.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.crash.bench import Bench, Run

ROOMS = ("pipeline/fetch",)
MakeBench = Callable[..., Bench]

BATCH = 60
FETCH: dict[str, Any] = {"concurrency": 8, "total_requests": 1}
BREAKER: dict[str, Any] = {"minimum_requests": 6, "open_for": "1s", "open_for_cap": "2s", "trial_requests": 3}
DEFERRAL: dict[str, Any] = {"slow_lane": {"attempts": 2, "backoff": "0s"}}
# What opens the breaker in each of two workers, and what is in flight then.
ASKED_UNTIL_OPEN = 2 * (6 + 8)
ASKED_OF_MANY = 2 * (20 + 8)


def bench_of(make_bench: MakeBench, wikis: dict[str, str], rule: dict[str, Any], **breaker: Any) -> Bench:
    traffic = {"generator": "page_change", "seed": 5, "rate": "100/s", "for": "4s", "population": 200, "wikis": wikis}
    bench = make_bench(
        traffic=traffic,
        rules=[{"name": "down", "do": {"status": 503}} | rule],
        settings={
            "mediawiki": {"wikis": wikis},
            "batch": {"max_offsets": BATCH, "trigger": "200ms"},
            "fetch": FETCH,
            "breaker": BREAKER | breaker,
            "deferral": DEFERRAL,
        },
    )
    bench.publish(wait=True)
    return bench


def assert_mended(bench: Bench, run: Run) -> None:
    """The rest leaves: each event once, in order, and none as an error event for its tries."""
    bench.remove_rule("down")
    bench.await_drained(run)
    assert run.terminate() == 0
    bench.end()
    bench.assert_clean(restarted=False)


def test_one_wiki_that_is_down_stops_no_other(make_bench: MakeBench) -> None:
    """Steps: dewiki is down from the start, and mended when the whole source is committed. Checked: no batch waits, all
    that is deferred then is dewiki's, which got a few requests and probes.
    """
    wikis = {"enwiki": "en.wikipedia.org", "dewiki": "de.wikipedia.org"}
    bench = bench_of(make_bench, wikis, {"when": {"wiki": "dewiki"}}, deferred_share="100%")
    run = bench.start()
    run.await_condition(
        lambda: run.logged("waiting") or sum(bench.committed().values()) == bench.source_end(),
        "all to be committed, or a batch to wait",
    )
    assert run.logged("waiting") == [], "all wikis waited for one that is down"
    run.await_condition(
        lambda: len(run.logged("breaker_probe", wiki="dewiki", healthy=False)) >= 2, "dewiki to be probed"
    )
    assert [line["wiki"] for line in run.logged("breaker_open", grain="wiki")] == ["dewiki"]
    assert run.logged("breaker_open", grain="endpoint") == []
    assert bench.deferred() > BATCH
    probes = len(run.logged("breaker_probe"))
    assert len(bench.entries("down")) <= ASKED_UNTIL_OPEN + probes + 1
    assert_mended(bench, run)
    assert run.logged("breaker_closed", wiki="dewiki")
    assert run.logged("gave_up") == []


@pytest.mark.slow
def test_many_small_wikis_that_are_down_are_an_outage_of_the_endpoint(make_bench: MakeBench) -> None:
    """Steps: all of 100 wikis are down from the start, none of which has requests enough to be found so, and mended
    when the job waits. Checked: the main lane waits, requests are a few and those of the probes, no event is lost.
    """
    wikis = {f"w{number:02}wiki": f"w{number:02}.wikipedia.org" for number in range(100)}
    bench = bench_of(make_bench, wikis, {}, minimum_requests=20)
    run = bench.start()
    run.await_condition(
        lambda: run.logged("waiting") or len(bench.entries("down")) > ASKED_OF_MANY, "the job to wait, or to go on"
    )
    assert run.logged("waiting"), "small wikis that are down together were asked on and on"
    (waiting,) = run.logged("waiting")
    assert (waiting["grain"], waiting["reason"]) == ("endpoint", "breaker of the endpoint open")
    (opened,) = run.logged("breaker_open")
    assert opened["grain"] == "endpoint"
    assert opened["wikis"] >= 5
    run.await_condition(lambda: len(run.logged("breaker_probe", healthy=False)) >= 2, "the endpoint to be probed")
    asked = {line["wiki"] for line in run.logged("breaker_probe")}
    assert len(asked) >= 2, "probes go to several wikis"
    assert len(bench.entries("down")) <= ASKED_OF_MANY + len(run.logged("breaker_probe")) + 1
    assert 0 < bench.deferred() <= BATCH
    assert_mended(bench, run)
    assert run.logged("breaker_closed", grain="endpoint")
    assert run.logged("gave_up") == []
