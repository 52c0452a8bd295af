"""Claim checks of a page that is deleted are gone from a real store, in the order of the page, and readers are told.

Set-up: a page that is too large for a record, edited three times; then, while its fetches hang, the last edit once more
and a delete behind it. Checked: the delete is deferred behind the edit, and nothing is removed meanwhile; when the
edit has been emitted the page has no claim check, another page's is still there, the delete's record says what it
suppresses, and the consumer is answered `suppressed`. A claim check that comes back, as a process would write it that
lives on, is found by `claims suppress`.
"""

import json
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from kafka import KafkaProducer

from devkit.observe.audit.arrivals import Arrival, read_topic
from devkit.stack.stack import CLAIM_CHECKS
from tests.integration.crash.bench import Bench

TRAFFIC: dict[str, Any] = {
    "generator": "page_change",
    "seed": 9,
    "rate": "200/s",
    "for": "100ms",
    "population": 10,
    "pages": {"Huge": {"edits": 3, "at": [0.2, 0.5, 0.8]}, "Other": {"edits": 1}},
}
LARGE = {"body": {"size": "3MiB", "encoding": "gzip"}}
RULES: list[dict[str, Any]] = [{"name": page, "when": {"page": page}, "do": LARGE} for page in ("Huge", "Other")]
SETTINGS: dict[str, Any] = {
    "claim_check": {"suppressed": "remove"},
    "batch": {"max_offsets": 500},
    "deferral": {"inline_allowance": "1s", "slow_lane": {"deadline": "5s", "attempts": 50, "backoff": "1s"}},
}


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench(traffic=TRAFFIC, rules=RULES, settings=SETTINGS)


def test_claim_checks_of_a_deleted_page_are_gone_in_their_turn(bench: Bench) -> None:
    bench.publish(wait=True)
    run = bench.start()
    bench.await_drained(run)
    before = stored(bench)
    huge = [arrival for arrival in read_topic(bench.bootstrap, bench.config.source.topic) if title(arrival) == "Huge"]
    (page,) = {(event["wiki_id"], event["page"]["page_id"]) for event in map(event_of, huge)}
    of_page = f"{bench.config.claim_check.prefix}/{page[0]}/{page[1]}/"
    assert len({key for key in before if key.startswith(of_page)}) == 3
    assert len(before) == 4

    bench.add_rule(name="hangs", when={"page": "Huge"}, do={"latency": "10m"})
    edit = event_of(huge[-1])
    delete = edit | {"page_change_kind": "delete", "changelog_kind": "delete"}
    delete["meta"] = edit["meta"] | {"id": "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a"}
    send(bench, huge[-1], edit, delete)
    run.await_condition(lambda: bench.deferred() == 2, "edit and delete to be deferred")
    assert stored(bench) == before, "the removal ran ahead of an earlier event of the page"
    bench.remove_rule("hangs")
    run.await_condition(
        lambda: sum(bench.committed().values()) == bench.source_end() and bench.deferred() == 0,
        "edit and delete to be emitted",
    )
    assert run.terminate() == 0

    marks = {f"{key}.suppressed" for key in before if key.startswith(of_page)}
    assert stored(bench) == {key for key in before if not key.startswith(of_page)} | marks
    # Of the traffic's other pages some are deleted, too.
    (told,) = [one for one in bench.outputs() if "suppressed-scope" in one.headers and title(one) == "Huge"]
    assert event_of(told)["page_change_kind"] == "delete"
    says = {name: value.decode() for name, value in told.headers.items() if name.startswith("suppressed-")}
    assert says == {"suppressed-scope": "page", "suppressed-wiki": page[0], "suppressed-page": str(page[1])}
    assert '"claim_checks_removed"' in run.process.stderr.read_text(errors="replace")

    consumed = bench.command("consume")
    assert consumed.returncode == 0, consumed.stderr
    lines = [json.loads(line) for line in consumed.stdout.splitlines()]
    assert sorted(line["event"]["page"]["page_title"] for line in lines if line["suppressed"] == "page") == ["Huge"] * 3
    of_huge = [line for line in lines if line["suppresses"] and line["event"]["page"]["page_title"] == "Huge"]
    assert [line["event"]["page_change_kind"] for line in of_huge] == ["delete"]
    assert "1 claim checks resolved" in consumed.stderr
    assert "3 claim checks suppressed" in consumed.stderr

    again = min(marks).removesuffix(".suppressed")
    bench.stack.object_store.client().put_object(Bucket=CLAIM_CHECKS, Key=again, Body=b"of a process that lives on")
    found = bench.command("claims", "suppress")
    assert found.returncode == 0, found.stderr
    assert found.stdout.endswith("1 removed, 2 were gone before\n"), found.stdout
    assert again not in stored(bench)


def stored(bench: Bench) -> set[str]:
    listed = bench.stack.object_store.client().list_objects_v2(
        Bucket=CLAIM_CHECKS, Prefix=f"{bench.config.claim_check.prefix}/"
    )
    return {found["Key"] for found in listed.get("Contents", ())}


def event_of(arrival: Arrival) -> dict[str, Any]:
    event: dict[str, Any] = orjson.loads(arrival.value)
    return event


def title(arrival: Arrival) -> str:
    return str(event_of(arrival)["page"]["page_title"])


def send(bench: Bench, like: Arrival, *events: dict[str, Any]) -> None:
    """To the partition where the page's events are, under their key."""
    producer = KafkaProducer(bootstrap_servers=bench.bootstrap)
    for event in events:
        producer.send(bench.config.source.topic, key=like.key, partition=like.partition, value=orjson.dumps(event))
    producer.flush()
    producer.close()
