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
    """Time passes by sleeping alone. `keys` are of a page with three revisions, of other pages, and of no page."""

    bucket: Bucket
    keys: dict[str, str] = field(default_factory=dict)
    lines: list[dict[str, Any]] = field(default_factory=list)
    pauses_s: list[float] = field(default_factory=list)
    now: float = 0.0
    recorder: Recorder = field(default_factory=Recorder)

    async def sleep(self, seconds: float) -> None:
        self.pauses_s.append(seconds)
        self.now += seconds

    def removal(self, **more: Any) -> ClaimRemoval:
        around = {"clock": lambda: self.now, "sleep": self.sleep} | more
        return ClaimRemoval(ClaimCheck(bucket=BUCKET, prefix=PREFIX), **around)

    def remove(self, *suppressions: Suppression, **more: Any) -> None:
        """One after the other, by one removal."""

        async def all_of_them() -> None:
            removal = self.removal(**more)
            for suppression in suppressions:
                await removal.remove(suppression, EVENT)

        asyncio.run(all_of_them())

    def say(self, event: Event) -> None:
        assert event.event in OF_WORKERS, "else a scenario could expect that it is not written, and never see it"
        self.lines.append({"event": event.event} | fields_of(event))

    def counted(self, metric: str) -> float:
        return sum(value for key, value in self.recorder.drain().counts.items() if metric in str(key))

    @property
    def there(self) -> set[str]:
        """Which of the keys are there, by name."""
        return {name for name, key in self.keys.items() if key in self.bucket.objects}


ABOUT = {
    "first": PageRevision("enwiki", 7, 10),
    "second": PageRevision("enwiki", 7, 20, 10),
    "third": PageRevision("enwiki", 7, 30, 20),
    "longer id": PageRevision("enwiki", 71, 20),
    "other wiki": PageRevision("dewiki", 7, 20),
    "old": None,
}
OTHERS = {"longer id", "other wiki", "old"}


@pytest.fixture
def empty(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench = Bench(bucket)
    monkeypatch.setattr(claim_check, "store_client", lambda _: bucket)
    monkeypatch.setattr(module, "RECORDER", bench.recorder)
    monkeypatch.setattr(log, "emit", bench.say)
    return bench


@pytest.fixture
def bench(empty: Bench) -> Bench:
    empty.keys |= {name: empty.bucket.put(name.encode(), about=of) for name, of in ABOUT.items()}
    return empty


def test_a_delete_takes_all_of_the_page_and_nothing_else(bench: Bench) -> None:
    """The mark is there before the payload is gone."""
    bench.remove(PAGE)
    gone = [bench.keys[name] for name in ("first", "second", "third")]
    assert bench.bucket.objects.keys() == {*map(mark_of, gone), *(bench.keys[name] for name in OTHERS)}
    assert orjson.loads(bench.bucket.objects[mark_of(gone[0])][0]) == {"suppressed": "page", "by": "source/0/7"}
    assert bench.lines == [
        {"event": "claim_checks_removed", "wiki": "enwiki", "page": 7, "source": "source/0/7", "removed": 3, "stay": 0}
    ]
    assert bench.counted("enrichment_claim_checks_removed") == 3
    for key in gone:
        assert bench.bucket.calls.index(f"put {mark_of(key)}") < bench.bucket.calls.index(f"delete {key}")


def test_a_hidden_revision_takes_its_own_and_its_child_s_once(bench: Bench) -> None:
    bench.remove(REVISION)
    assert bench.there == OTHERS | {"first"}
    after_first, calls = dict(bench.bucket.objects), list(bench.bucket.calls)
    bench.remove(REVISION)
    assert (bench.bucket.objects, bench.bucket.calls) == (after_first, calls)
    assert [line["revision"] for line in bench.lines] == [20], "where there is nothing, nothing is said"


def test_after_a_crash_the_rest_is_removed(bench: Bench) -> None:
    """Between mark and removal, and between two claim checks."""
    bench.bucket.objects[mark_of(bench.keys["first"])] = bench.bucket.objects[bench.keys["longer id"]]
    del bench.bucket.objects[bench.keys["second"]]
    bench.remove(PAGE)
    assert bench.there == OTHERS


def test_a_store_that_is_down_is_tried_for_a_bounded_time_and_it_is_said(bench: Bench) -> None:
    """Others do not try for a while."""
    bench.bucket.down = True
    bench.remove(PAGE, REVISION, PAGE)
    assert bench.pauses_s == [0.5, 2.0]
    assert [(line["event"], line["page"], line["source"]) for line in bench.lines] == [
        ("claim_checks_not_removed", 7, "source/0/7")
    ] * 3
    (reason,) = {line["reason"] for line in bench.lines}
    assert "Could not connect" in reason
    assert "claims suppress" in bench.lines[0]["remedy"]
    assert bench.counted("enrichment_claim_removals_failed") == 3


def test_a_store_that_is_back_is_tried_again(bench: Bench) -> None:
    async def back_after(seconds: float) -> None:
        await bench.sleep(seconds)
        bench.bucket.down = False

    bench.bucket.down = True
    bench.remove(PAGE, sleep=back_after)
    assert bench.lines[-1]["event"] == "claim_checks_removed"


def test_uploads_that_take_long_hold_no_removal(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_store_that_refuses_is_not_tried_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    denied: Any = {"Error": {"Code": "AccessDenied"}, "ResponseMetadata": {"HTTPStatusCode": 403}}

    def refuse(_operation: str) -> None:
        raise ClientError(denied, "ListObjectsV2")

    monkeypatch.setattr(bench.bucket, "get_paginator", refuse)
    bench.remove(PAGE)
    assert bench.pauses_s == []
    assert "AccessDenied" in bench.lines[0]["reason"]


@pytest.mark.parametrize(
    ("is_over", "marks"),
    [([True], 0), ([False, True], 0), ([False, False, True], 1)],
    ids=["before", "while the store said whose it is", "while the store took the mark"],
)
def test_what_is_over_removes_nothing_more(bench: Bench, is_over: list[bool], marks: int) -> None:
    """A thread that hung in an answer when its time was over: an undelete may have stored something since."""
    looks = iter(is_over)
    assert bench.removal()._remove_all(PAGE, EVENT, lambda: next(looks)) == RemovalCounts(0, 0)
    assert [call.partition(" ")[0] for call in bench.bucket.calls] == ["put"] * marks
    assert bench.there == bench.keys.keys()


def test_a_wiki_whose_name_no_key_can_have_is_not_asked_for(empty: Bench) -> None:
    empty.bucket.down = True
    empty.remove(Suppression("w" * 2000, 7, None))
    assert empty.lines == []


LATER = ClaimOrigin(Position("source", 0, 8), at_ms=701)


@pytest.mark.parametrize(
    ("stored_by", "stays"),
    [
        (LATER, True),
        (ClaimOrigin(Position("source", 0, 8), at_ms=700), False),  # of one moment nothing is sure
        (ClaimOrigin(Position("source", 0, 6), at_ms=699), False),
        (ClaimOrigin(Position("source", 0, 6), at_ms=800), False),  # by a clock that was ahead
        (ClaimOrigin(Position("source", 0, 900), at_ms=600), False),  # the topic was made again since
        (ClaimOrigin(Position("source", 1, 8), at_ms=800), False),
        (ClaimOrigin(Position("other", 0, 8), at_ms=800), False),
        (None, False),
    ],
)
def test_what_a_later_event_has_stored_stays(bench: Bench, stored_by: ClaimOrigin | None, stays: bool) -> None:
    second = bench.keys["second"]
    bench.bucket.metadata[second] = {} if stored_by is None else stored_by.metadata()
    bench.remove(PAGE)
    assert bench.there == OTHERS | ({"second"} if stays else set())
    assert (mark_of(second) in bench.bucket.objects) == (not stays)
    assert (bench.lines[0]["removed"], bench.lines[0]["stay"]) == (3 - stays, int(stays))


def test_a_store_that_lets_nothing_be_read_has_all_removed(bench: Bench) -> None:
    bench.bucket.metadata[bench.keys["second"]] = LATER.metadata()
    bench.bucket.may_read = False
    bench.remove(PAGE)
    assert bench.there == OTHERS


def test_that_all_of_it_stays_is_said_too(empty: Bench) -> None:
    key = empty.bucket.put(b"restored", about=ABOUT["first"])
    empty.bucket.metadata[key] = LATER.metadata()
    empty.remove(PAGE)
    assert [(line["removed"], line["stay"]) for line in empty.lines] == [(0, 1)]
    assert empty.counted("enrichment_claim_checks_removed") == 0
