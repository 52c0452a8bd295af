"""However often events are repeated, what a later event has published is there, and ends as the last one wants it.

Set-up: events of a page in their order, through the real claim store and removal over a store in memory. Processes end
anywhere, in the middle of an event too, and the next one begins again where the last commit was. Payloads may be the
same for two events, as of an event that was sent again.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import boto3
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline import log
from pipeline.claims.removal import ClaimRemoval
from pipeline.config.pipeline_config import ClaimCheck
from pipeline.records.claim_check import ClaimStore
from pipeline.records.claim_key import PageRevision, key_of
from pipeline.records.claim_origin import ClaimOrigin
from pipeline.records.record import Position
from pipeline.records.suppression import Suppression
from tests.unit.pipeline.claims.conftest import BUCKET, PREFIX, Bucket

CONFIG = ClaimCheck(bucket=BUCKET, prefix=PREFIX, suppressed="remove")
PAGE = Suppression("enwiki", 7, None)


class CutError(Exception):
    """The process ends here."""


@dataclass(frozen=True)
class Stores:
    revision: int
    payload: bytes

    @property
    def about(self) -> PageRevision:
        return PageRevision("enwiki", 7, self.revision, self.revision - 1)


Step = Stores | Suppression


@dataclass(frozen=True)
class Process:
    """Begins at the last commit, and ends with this request to the store, after that of its events is committed."""

    requests: int
    committed: int


stores = st.builds(Stores, st.integers(1, 3), st.sampled_from([b"a", b"b"]))
hides = st.builds(Suppression, st.just("enwiki"), st.just(7), st.integers(1, 3))
pages = st.lists(st.one_of(stores, stores, hides, st.just(PAGE)), max_size=8)
processes = st.lists(st.builds(Process, st.integers(1, 30), st.integers(0, 8)), max_size=5)


@dataclass
class CutBucket(Bucket):
    """Ends a process at a request; `look` is called after each one that changes something."""

    requests: int = 0
    look: Callable[[], None] = lambda: None

    def put_object(self, **request: object) -> None:
        super().put_object(**request)  # type: ignore[arg-type]
        self.look()

    def delete_object(self, **request: object) -> None:
        super().delete_object(**request)  # type: ignore[arg-type]
        self.look()

    def _answer(self, bucket: str) -> None:
        super()._answer(bucket)
        if not self.requests:
            raise CutError
        self.requests -= 1


@dataclass
class Page:
    """Its events, at offsets from 0; `at_ms` are the times of their records."""

    steps: Sequence[Step]
    at_ms: Sequence[int]
    bucket: CutBucket = field(default_factory=CutBucket)
    begun: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    reached: int = 0

    def play(self, processes: Sequence[Process]) -> None:
        committed = 0
        for process in (*processes, Process(1_000_000, 0)):
            self.bucket.requests = process.requests
            try:
                asyncio.run(self.events_from(committed))
            except CutError:
                committed = max(committed, min(process.committed, self.reached))

    async def events_from(self, committed: int) -> None:
        store, removal = ClaimStore(CONFIG), ClaimRemoval(CONFIG)
        self.reached = committed
        for offset in range(committed, len(self.steps)):
            step, origin = self.steps[offset], ClaimOrigin(Position("source", 0, offset), self.at_ms[offset])
            self.begun.add(offset)
            if isinstance(step, Stores):
                await store.keep(step.payload, step.about, origin)
            else:
                await removal.remove(step, origin)
            self.done.add(offset)
            self.reached = offset + 1

    def key(self, step: Stores) -> str:
        return key_of(PREFIX, hashlib.sha256(step.payload).hexdigest(), step.about)

    def wanted(self, stored: set[int], removed: set[int]) -> set[str]:
        """What is to be there for the events that have stored, where none of these later ones removes it."""
        return {
            self.key(step)
            for offset, step in enumerate(self.steps)
            if isinstance(step, Stores)
            and offset in stored
            and not any(
                isinstance(later, Suppression) and later.covers(step.about)
                for at, later in enumerate(self.steps)
                if at > offset and at in removed
            )
        }

    def payloads(self) -> set[str]:
        return {key for key in self.bucket.objects if not key.endswith(".suppressed")}


@pytest.fixture(autouse=True)
def _silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "emit", lambda _event: None)


UNDELETED = [Stores(1, b"a"), PAGE, Stores(1, b"b")]
SENT_AGAIN = [Stores(1, b"a"), PAGE, Stores(1, b"a")]
SHOWN_AGAIN = [Stores(2, b"a"), Suppression("enwiki", 7, 1), Stores(2, b"b")]


@settings(max_examples=150, deadline=None)
@given(steps=pages, processes=processes)
@example(steps=UNDELETED, processes=[Process(12, 0)])
@example(steps=SENT_AGAIN, processes=[Process(12, 0)])
@example(steps=SHOWN_AGAIN, processes=[Process(12, 0)])
def test_what_a_later_event_has_published_is_there_while_earlier_ones_are_repeated(
    steps: Sequence[Step], processes: Sequence[Process]
) -> None:
    page = Page(steps, range(len(steps)))

    def look() -> None:
        gone = page.wanted(page.done, page.begun) - page.payloads()
        assert not gone, "a consumer that reads now is told that it was suppressed"

    page.bucket.look = look
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boto3, "client", lambda *_, **__: page.bucket)
        page.play(processes)
    everything = set(range(len(steps)))
    assert page.payloads() == page.wanted(everything, everything)


@settings(max_examples=100, deadline=None)
@given(
    steps=pages,
    processes=processes,
    may_read=st.booleans(),
    at_ms=st.lists(st.integers(0, 9), min_size=8, max_size=8),
    before=st.lists(stores, max_size=3),
)
def test_it_ends_as_the_last_event_wants_it_whatever_clocks_say_and_the_store_allows(
    steps: Sequence[Step], processes: Sequence[Process], may_read: bool, at_ms: list[int], before: list[Stores]
) -> None:
    """Payloads of the time before are there too, of which nothing says by which event they were stored."""
    page = Page(steps, at_ms)
    page.bucket.may_read = may_read
    old = {page.bucket.put(one.payload, about=one.about): one for one in before}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boto3, "client", lambda *_, **__: page.bucket)
        page.play(processes)
    everything = set(range(len(steps)))
    kept = {key for key, one in old.items() if not any(_covers(step, one) for step in steps)}
    assert page.payloads() == page.wanted(everything, everything) | kept


def _covers(step: Step, one: Stores) -> bool:
    return isinstance(step, Suppression) and step.covers(one.about)
