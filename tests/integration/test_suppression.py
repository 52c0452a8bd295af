"""Claim checks of a page that is deleted are gone from a real store, in the order of the page, and readers are told.

Set-up: a page that is too large for a record, edited three times; then, while its fetches hang, the last edit once more
and a delete behind it. Checked: the delete is deferred behind the edit, and nothing is removed meanwhile; when the
edit has been emitted the page has no claim check, another page's is still there, the delete's record says what it
suppresses, and the consumer is answered `suppressed`. A claim check that comes back, as a process would write it that
lives on, is found by `claims suppress`.

And a delete with an undelete behind it in one batch, after which the process dies, before it commits; then the fetches
hang, so that the delete is repeated and the undelete is not yet. Checked: a consumer that reads then has the content.
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
from tests.integration.crash.point import CrashPoint

ROOMS = ("pipeline/claims", "pipeline/consumer", "pipeline/records")
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

WRITTEN = CrashPoint(target="pipeline.driver.batch:BatchWriter._write", moment="after")
DELETE_ID, UNDELETE_ID = "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a", "0a4b7d1e-6f0c-4f43-8d51-7e2a9b6c3d10"


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
    send(bench, huge[-1], edit, later(edit, "delete", "delete", DELETE_ID))
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
    assert '"claim_checks_removed"' in run.standard_error()

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


@pytest.mark.slow
def test_a_delete_that_is_repeated_leaves_what_the_undelete_behind_it_has_published(bench: Bench) -> None:
    bench.publish(wait=True)
    run = bench.start()
    bench.await_drained(run)
    assert run.terminate() == 0
    huge = [arrival for arrival in read_topic(bench.bootstrap, bench.config.source.topic) if title(arrival) == "Huge"]
    edit = event_of(huge[-1])
    undelete = later(edit, "undelete", "insert", UNDELETE_ID)
    send(bench, huge[-1], later(edit, "delete", "delete", DELETE_ID), undelete)
    assert bench.start(crash=WRITTEN).await_end() != 0
    restored = payloads(bench, edit)
    assert len(restored) == 1, "the edits' are removed, the undelete's is there"

    bench.add_rule(name="hangs", when={"page": "Huge"}, do={"latency": "10m"})
    run = bench.start()
    run.await_condition(lambda: bench.deferred() == 1, "the undelete to be deferred behind its delete")
    assert payloads(bench, edit) == restored
    consumed = bench.command("consume")
    assert consumed.returncode == 0, consumed.stderr
    lines = [json.loads(line) for line in consumed.stdout.splitlines()]
    said = [
        (line["event"]["page_change_kind"], line["suppressed"])
        for line in lines
        if line["event"]["page"]["page_title"] == "Huge"
    ]
    assert said[-2:] == [("delete", None), ("undelete", None)]
    assert [suppressed for _, suppressed in said[:-2]] == ["page"] * 3
    bench.remove_rule("hangs")
    bench.await_drained(run)
    assert run.terminate() == 0
    assert payloads(bench, edit) == restored


def later(event: dict[str, Any], kind: str, changelog: str, event_id: str) -> dict[str, Any]:
    """An event of the same page."""
    return event | {
        "page_change_kind": kind,
        "changelog_kind": changelog,
        "meta": event["meta"] | {"id": event_id},
    }


def payloads(bench: Bench, event: dict[str, Any]) -> set[str]:
    """What is there of the event's page."""
    of_page = f"{bench.config.claim_check.prefix}/{event['wiki_id']}/{event['page']['page_id']}/"
    return {key for key in stored(bench) if key.startswith(of_page) and not key.endswith(".suppressed")}


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
