"""What a removal takes and leaves, and that a store that does not answer holds it for a bounded time."""

import asyncio
import threading
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from botocore.exceptions import ClientError

from pipeline import log
from pipeline.claims import removal as module
from pipeline.claims.removal import ClaimRemoval, RemovalCounts
from pipeline.config.pipeline_config import ClaimCheck
from pipeline.events import OF_WORKERS, Event, fields_of
from pipeline.metrics.measurements import Recorder
from pipeline.records import claim_check
from pipeline.records.claim_key import PageRevision, mark_of
from pipeline.records.claim_origin import ClaimOrigin
from pipeline.records.record import Position
from pipeline.records.suppression import Suppression
from tests.unit.pipeline.claims.conftest import BUCKET, PREFIX, Bucket

EVENT = ClaimOrigin(Position("source", 0, 7), at_ms=700)
MANY_UPLOADS = 64
"""More than a loop has threads on any machine."""
PAGE, REVISION = Suppression("enwiki", 7, None), Suppression("enwiki", 7, 20)


@dataclass
class Bench:
    """Time passes by sleeping alone."""

    bucket: Bucket
    lines: list[dict[str, Any]] = field(default_factory=list)
    pauses_s: list[float] = field(default_factory=list)
    now: float = 0.0
    recorder: Recorder = field(default_factory=Recorder)

    async def sleep(self, seconds: float) -> None:
        self.pauses_s.append(seconds)
        self.now += seconds

    def remove(self, *suppressions: Suppression) -> None:
        """One after the other, by one removal."""

        async def all_of_them() -> None:
            removal = ClaimRemoval(ClaimCheck(bucket=BUCKET, prefix=PREFIX), clock=lambda: self.now, sleep=self.sleep)
            for suppression in suppressions:
                await removal.remove(suppression, EVENT)

        asyncio.run(all_of_them())

    def say(self, event: Event) -> None:
        assert event.event in OF_WORKERS, "else a scenario could expect that it is not written, and never see it"
        self.lines.append({"event": event.event} | fields_of(event))

    def counted(self, metric: str) -> float:
        return sum(value for key, value in self.recorder.drain().counts.items() if metric in str(key))


@pytest.fixture
def bench(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench = Bench(bucket)
    monkeypatch.setattr(claim_check, "store_client", lambda _: bucket)
    monkeypatch.setattr(module, "RECORDER", bench.recorder)
    monkeypatch.setattr(log, "emit", bench.say)
    return bench


@pytest.fixture
def keys(bucket: Bucket) -> dict[str, str]:
    """Of a page with three revisions, of other pages, and one that says nothing of a page."""
    about = {
        "first": PageRevision("enwiki", 7, 10),
        "second": PageRevision("enwiki", 7, 20, 10),
        "third": PageRevision("enwiki", 7, 30, 20),
        "longer id": PageRevision("enwiki", 71, 20),
        "other wiki": PageRevision("dewiki", 7, 20),
    }
    return {name: bucket.put(name.encode(), about=of) for name, of in about.items()} | {"old": bucket.put(b"old")}


def test_a_delete_takes_all_of_the_page_and_nothing_else(bench: Bench, keys: dict[str, str]) -> None:
    bench.remove(PAGE)
    gone = {keys[name] for name in ("first", "second", "third")}
    assert set(bench.bucket.objects) == {keys[name] for name in ("longer id", "other wiki", "old")} | set(
        map(mark_of, gone)
    )
    assert orjson.loads(bench.bucket.objects[mark_of(keys["first"])][0]) == {"suppressed": "page", "by": "source/0/7"}
    assert bench.lines == [
        {"event": "claim_checks_removed", "wiki": "enwiki", "page": 7, "source": "source/0/7", "removed": 3, "stay": 0}
    ]
    assert bench.counted("enrichment_claim_checks_removed") == 3


def test_a_hidden_revision_takes_its_own_and_its_child_s(bench: Bench, keys: dict[str, str]) -> None:
    bench.remove(REVISION)
    assert keys["first"] in bench.bucket.objects
    assert {keys["second"], keys["third"]}.isdisjoint(bench.bucket.objects)
    assert bench.lines[0]["revision"] == 20


def test_the_mark_is_there_before_the_payload_is_gone(bench: Bench, keys: dict[str, str]) -> None:
    bench.remove(PAGE)
    for name in ("first", "second", "third"):
        put, delete = f"put {mark_of(keys[name])}", f"delete {keys[name]}"
        assert bench.bucket.calls.index(put) < bench.bucket.calls.index(delete)


def test_again_changes_nothing(bench: Bench, keys: dict[str, str]) -> None:
    bench.remove(REVISION)
    after_first, calls = dict(bench.bucket.objects), list(bench.bucket.calls)
    bench.remove(REVISION)
    assert (bench.bucket.objects, bench.bucket.calls) == (after_first, calls)
    assert len(bench.lines) == 1, "where there is nothing, nothing is said"


def test_after_a_crash_the_rest_is_removed(bench: Bench, keys: dict[str, str]) -> None:
    """Between mark and removal, and between two claim checks."""
    bench.bucket.objects[mark_of(keys["first"])] = bench.bucket.objects[keys["longer id"]]
    del bench.bucket.objects[keys["second"]]
    bench.remove(PAGE)
    assert {keys["first"], keys["third"]}.isdisjoint(bench.bucket.objects)


def test_a_store_that_is_down_is_tried_for_a_bounded_time_and_it_is_said(bench: Bench, keys: dict[str, str]) -> None:
    bench.bucket.down = True
    bench.remove(PAGE)
    assert bench.pauses_s == [0.5, 2.0]
    (line,) = bench.lines
    assert (line["event"], line["page"], line["source"]) == ("claim_checks_not_removed", 7, "source/0/7")
    assert "Could not connect" in line["reason"]
    assert "claims suppress" in line["remedy"]
    assert bench.counted("enrichment_claim_removals_failed") == 1


def test_others_do_not_try_for_a_while(bench: Bench, keys: dict[str, str]) -> None:
    bench.bucket.down = True
    bench.remove(PAGE, REVISION, PAGE)
    assert bench.pauses_s == [0.5, 2.0]
    assert [line["event"] for line in bench.lines] == ["claim_checks_not_removed"] * 3
    assert len({line["reason"] for line in bench.lines}) == 1


def test_a_store_that_is_back_is_tried_again(bench: Bench, keys: dict[str, str]) -> None:
    async def back_after(seconds: float) -> None:
        await bench.sleep(seconds)
        bench.bucket.down = False

    removal = ClaimRemoval(ClaimCheck(bucket=BUCKET, prefix=PREFIX), clock=lambda: bench.now, sleep=back_after)
    bench.bucket.down = True
    asyncio.run(removal.remove(PAGE, EVENT))
    assert bench.lines[-1]["event"] == "claim_checks_removed"


def test_uploads_that_take_long_hold_no_removal(
    bench: Bench, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LIMIT_S", 5.0)
    uploaded = threading.Event()

    async def beside_uploads() -> None:
        uploads = [asyncio.create_task(asyncio.to_thread(uploaded.wait, 60)) for _ in range(MANY_UPLOADS)]
        await asyncio.sleep(0)  # they have all threads that there are, and wait for more
        await ClaimRemoval(ClaimCheck(bucket=BUCKET, prefix=PREFIX)).remove(PAGE, EVENT)
        uploaded.set()
        await asyncio.gather(*uploads)

    asyncio.run(beside_uploads())
    assert [line["event"] for line in bench.lines] == ["claim_checks_removed"]


def test_a_store_that_refuses_is_not_tried_again(
    bench: Bench, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    denied: Any = {"Error": {"Code": "AccessDenied"}, "ResponseMetadata": {"HTTPStatusCode": 403}}

    def refuse(_operation: str) -> None:
        raise ClientError(denied, "ListObjectsV2")

    monkeypatch.setattr(bench.bucket, "get_paginator", refuse)
    bench.remove(PAGE)
    assert bench.pauses_s == []
    assert "AccessDenied" in bench.lines[0]["reason"]


def test_what_is_over_removes_nothing_more(bench: Bench, keys: dict[str, str]) -> None:
    """A thread that hung in an answer when its time was over: an undelete may have stored something since."""
    removal = ClaimRemoval(ClaimCheck(bucket=BUCKET, prefix=PREFIX))
    assert removal._remove_all(PAGE, EVENT, lambda: True) == RemovalCounts(0, 0)
    assert bench.bucket.calls == []


def test_what_was_over_while_the_store_said_whose_it_is_removes_nothing(bench: Bench, keys: dict[str, str]) -> None:
    removal, looks = ClaimRemoval(ClaimCheck(bucket=BUCKET, prefix=PREFIX)), iter([False, True])
    assert removal._remove_all(PAGE, EVENT, lambda: next(looks)) == RemovalCounts(0, 0)
    assert bench.bucket.calls == []


def test_what_was_over_while_the_store_took_the_mark_removes_nothing(bench: Bench, keys: dict[str, str]) -> None:
    removal, looks = ClaimRemoval(ClaimCheck(bucket=BUCKET, prefix=PREFIX)), iter([False, False, True])
    assert removal._remove_all(PAGE, EVENT, lambda: next(looks)) == RemovalCounts(0, 0)
    assert set(keys.values()) <= bench.bucket.objects.keys()


def test_a_wiki_whose_name_no_key_can_have_is_not_asked_for(bench: Bench) -> None:
    bench.bucket.down = True
    bench.remove(Suppression("w" * 2000, 7, None))
    assert bench.lines == []


@pytest.mark.parametrize(
    ("stored_by", "stays"),
    [
        (ClaimOrigin(Position("source", 0, 8), at_ms=701), True),
        (ClaimOrigin(Position("source", 0, 8), at_ms=700), False),  # of one moment nothing is sure
        (ClaimOrigin(Position("source", 0, 6), at_ms=699), False),
        (ClaimOrigin(Position("source", 0, 6), at_ms=800), False),  # by a clock that was ahead
        (ClaimOrigin(Position("source", 0, 900), at_ms=600), False),  # the topic was made again since
        (ClaimOrigin(Position("source", 1, 8), at_ms=800), False),
        (ClaimOrigin(Position("other", 0, 8), at_ms=800), False),
        (None, False),
    ],
)
def test_what_a_later_event_has_stored_stays(
    bench: Bench, keys: dict[str, str], stored_by: ClaimOrigin | None, stays: bool
) -> None:
    bench.bucket.metadata[keys["second"]] = {} if stored_by is None else stored_by.metadata()
    bench.remove(PAGE)
    assert (keys["second"] in bench.bucket.objects, mark_of(keys["second"]) in bench.bucket.objects) == (
        stays,
        not stays,
    )
    assert {keys["first"], keys["third"]}.isdisjoint(bench.bucket.objects)
    assert (bench.lines[0]["removed"], bench.lines[0]["stay"]) == (3 - stays, int(stays))


def test_a_store_that_lets_nothing_be_read_has_all_removed(bench: Bench, keys: dict[str, str]) -> None:
    bench.bucket.metadata[keys["second"]] = ClaimOrigin(Position("source", 0, 8), at_ms=701).metadata()
    bench.bucket.may_read = False
    bench.remove(PAGE)
    assert keys["second"] not in bench.bucket.objects


def test_that_all_of_it_stays_is_said_too(bench: Bench) -> None:
    key = bench.bucket.put(b"restored", about=PageRevision("enwiki", 7, 10))
    bench.bucket.metadata[key] = ClaimOrigin(Position("source", 0, 8), at_ms=701).metadata()
    bench.remove(PAGE)
    assert [(line["removed"], line["stay"]) for line in bench.lines] == [(0, 1)]
    assert bench.counted("enrichment_claim_checks_removed") == 0
