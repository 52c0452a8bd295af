"""Parents that were published are not fetched again, and never used once something of their page was hidden.

The wiki of these tests renders a revision differently each time it is asked, and answers when it is told to.
"""

import asyncio
import gzip
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devkit.observe.expected_output.patch import apply_patch
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch import kept_revisions
from pipeline.fetch.client import FetchedText, FetchFailedError, WikiClient
from pipeline.fetch.deadline import Deadline
from pipeline.jobs import registry
from pipeline.jobs.enrichment import Enrichment
from pipeline.jobs.message import InTurn, Processed, SourceMessage
from pipeline.records.claim_check import ClaimStore
from pipeline.records.error_event import Failure
from pipeline.records.record import Position, Record
from tests.unit.pipeline.making import make_config, make_event

MakeEvent = Callable[..., dict[str, Any]]
HIDDEN = {"is_content_visible": False}
PAGE = 7


@dataclass
class Wiki:
    """What the job asks; `waits` has who waits for an answer, unless the wiki `answers_at_once`."""

    answers_at_once: bool = True
    room_bytes: int = 1024 * 1024
    refused: dict[int, FetchFailedError] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)
    waits: list[asyncio.Event] = field(default_factory=list)

    def deadline(self, limit_s: float) -> Deadline:
        return Deadline(limit_s, lambda: 0.0)

    def hold(self, count: int) -> bool:
        return count <= self.room_bytes

    async def fetch(
        self, wiki_id: str, rev_id: int, *, request_id: str, deadline: Deadline, compressed: bool
    ) -> FetchedText:
        self.asked.append(rev_id)
        if not self.answers_at_once:
            told = asyncio.Event()
            self.waits.append(told)
            await told.wait()
        if rev_id in self.refused:
            raise self.refused[rev_id]
        text = f"<p>{rev_id} rendered {len(self.asked)}</p>\n"
        return FetchedText(text, None, compressed=gzip.compress(text.encode()) if compressed else None)


@dataclass(frozen=True)
class Published:
    rev: int
    body: str
    diff: dict[str, Any] | None


def job(config: PipelineConfig, wiki: Wiki) -> Enrichment[Any, Any]:
    client = cast("WikiClient", wiki)
    return Enrichment(config, registry.JOBS["html-enrichment"](config, client), client, cast("ClaimStore", None))


def message(event: dict[str, Any], offset: int = 5) -> SourceMessage:
    return SourceMessage(Position("source", 0, offset), b"page", orjson.dumps(event), datetime(2026, 3, 2, tzinfo=UTC))


async def published(made: Processed) -> Published | None:
    outcome = await made.finish() if isinstance(made, InTurn) else made
    assert isinstance(outcome, Record)
    value = orjson.loads(outcome.value)
    body = value.get("revision", {}).get("content_slots", {}).get("main", {}).get("content_body")
    return None if body is None else Published(value["revision"]["rev_id"], body, value.get("html_diff"))


def process_all(enrichment: Enrichment[Any, Any], events: list[dict[str, Any]]) -> list[Published | None]:
    async def go() -> list[Published | None]:
        return [await published(await enrichment.process(message(event), limit_s=20)) for event in events]

    return asyncio.run(go())


@pytest.fixture
def edit() -> Callable[..., dict[str, Any]]:
    """An event of a revision; its parent is the one before."""

    def make(rev: int, kind: str = "edit", **revision: Any) -> dict[str, Any]:
        return make_event(kind, page_id=PAGE, revision={"rev_id": rev, "rev_parent_id": rev - 1} | revision)

    return make


def test_the_diff_is_to_what_was_published_before(keeping_config: PipelineConfig, edit: MakeEvent) -> None:
    wiki = Wiki()
    first, second, moved = process_all(job(keeping_config, wiki), [edit(2, "create"), edit(3), edit(4, "move")])
    assert wiki.asked == [2, 3, 4]
    assert first is not None
    assert second is not None
    assert moved is not None
    assert first.diff is None
    for before, after in ((first, second), (second, moved)):
        assert after.diff is not None
        assert after.diff["base_rev_id"] == before.rev
        assert apply_patch(before.body, after.diff["body"]) == after.body


@pytest.mark.parametrize(
    ("between", "then", "asked"),
    [
        ([], 3, [3]),
        ([("delete", 2, {})], 3, [3, 2]),
        ([("visibility_change", 2, HIDDEN)], 3, [3, 2]),
        ([("visibility_change", 1, HIDDEN)], 3, [3, 2]),
        ([("edit", 2, HIDDEN)], 3, [3, 2]),
        ([("visibility_change", 2, {"is_editor_visible": False})], 3, [2, 3]),
        ([("visibility_change", 2, {})], 3, [2, 3]),
        ([("visibility_change", 1, {})], 3, [1, 3, 2]),
        ([("undelete", 2, {})], 3, [2, 3]),
        ([], 4, [4, 3]),
    ],
    ids=[
        "nothing",
        "a deletion",
        "its text is hidden",
        "that of an older revision is",
        "an edit whose text is hidden",
        "its editor is hidden, and it is fetched anew",
        "it is shown, and fetched anew",
        "an older revision is shown",
        "an undeletion, which fetches it anew",
        "a revision that was not seen",
    ],
)
def test_what_is_asked_for_after_an_edit(
    keeping_config: PipelineConfig,
    edit: MakeEvent,
    between: list[tuple[str, int, dict[str, Any]]],
    then: int,
    asked: list[int],
) -> None:
    wiki = Wiki()
    enrichment = job(keeping_config, wiki)
    process_all(enrichment, [edit(2)])
    wiki.asked.clear()
    process_all(enrichment, [*(edit(rev, kind, **revision) for kind, rev, revision in between), edit(then)])
    assert wiki.asked == asked


def test_a_held_event_hides_as_well(keeping_config: PipelineConfig, edit: MakeEvent) -> None:
    wiki = Wiki()
    enrichment = job(keeping_config, wiki)
    process_all(enrichment, [edit(2)])
    enrichment.hold(message(edit(2, "visibility_change", **HIDDEN)))
    enrichment.hold(SourceMessage(Position("source", 0, 6), b"page", b"no event", datetime(2026, 3, 2, tzinfo=UTC)))
    process_all(enrichment, [edit(3)])
    assert wiki.asked == [2, 1, 3, 2]


@pytest.mark.parametrize(
    ("policy", "room_bytes"), [({"policy": "none"}, 1024), ({"policy": "last"}, 0)], ids=["none is kept", "no memory"]
)
def test_parents_asked_for(
    keeping_config: PipelineConfig, edit: MakeEvent, policy: dict[str, str], room_bytes: int
) -> None:
    wiki = Wiki(room_bytes=room_bytes)
    chosen = make_config(parent_cache=policy, checkpoint=keeping_config.checkpoint)
    process_all(job(chosen, wiki), [edit(2), edit(3)])
    assert wiki.asked == [2, 1, 3, 2]


def test_the_next_process_knows_what_was_published(keeping_config: PipelineConfig, edit: MakeEvent) -> None:
    process_all(job(keeping_config, Wiki()), [edit(2)])
    wiki = Wiki()
    process_all(job(keeping_config, wiki), [edit(3)])
    assert wiki.asked == [3]


def test_a_parent_that_failed_is_asked_for(keeping_config: PipelineConfig, edit: MakeEvent) -> None:
    gone = FetchFailedError(Failure("revision_not_found", "it is gone"))
    wiki = Wiki(refused={2: gone})
    enrichment = job(keeping_config, wiki)

    async def go() -> None:
        failed = asyncio.create_task(enrichment.process(message(edit(2)), limit_s=20))
        after = await published(await enrichment.process(message(edit(3)), limit_s=20))
        assert after is not None
        assert after.diff is None
        assert cast("Record", await failed).topic == keeping_config.sink.error_topic

    asyncio.run(go())
    assert sorted(wiki.asked) == [1, 2, 2, 3]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["edit", "edit", "edit", "hide", "delete"]), st.integers(1, 2)),
        st.tuples(st.just("answer"), st.integers(0, 5)),
        st.tuples(st.just("restart"), st.just(0)),
    ),
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(steps=STEPS)
def test_published_diffs_lead_from_page_to_page_and_never_back_to_what_was_hidden(steps: list[tuple[str, int]]) -> None:
    """Events of two pages side by side, answers in any order, hidden in between, processes that end with all they have
    under way and begin again from there.
    """
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", directory)
        config = make_config(parent_cache={"policy": "last"}, checkpoint=directory)
        try:
            asyncio.run(_Run(config).play(steps))
        finally:
            kept_revisions.open_kept.cache_clear()


@dataclass
class _Done:
    event: dict[str, Any]
    begun: int
    ended: int
    result: Published


class _Run:
    """`clock` counts what happens: requests, and events that are read."""

    def __init__(self, config: PipelineConfig) -> None:
        self.config = config
        self.wiki = Wiki(answers_at_once=False)
        self.enrichment = job(config, self.wiki)
        self.latest = {1: 1, 2: 1}
        self.hidden: dict[int, list[int]] = {1: [], 2: []}
        self.tasks: list[tuple[dict[str, Any], asyncio.Task[None]]] = []
        self.done: list[_Done] = []

    @property
    def clock(self) -> int:
        return len(self.wiki.asked)

    async def play(self, steps: list[tuple[str, int]]) -> None:
        for what, number in steps:
            if what == "answer":
                if self.wiki.waits:
                    self.wiki.waits.pop(number % len(self.wiki.waits)).set()
            elif what == "restart":
                await self._restart()
            else:
                self._begin(self._event(what, number))
            for _ in range(8):
                await asyncio.sleep(0)
        await self._drain()
        self._check()

    def _event(self, what: str, page: int) -> dict[str, Any]:
        self.latest[page] += what == "edit"
        rev = self.latest[page]
        kind = {"hide": "visibility_change"}.get(what, what)
        revision = {"rev_id": rev, "rev_parent_id": rev - 1, **(HIDDEN if what == "hide" else {})}
        return make_event(kind, page_id=page, revision=revision)

    def _begin(self, event: dict[str, Any]) -> None:
        self.tasks.append((event, asyncio.create_task(self._process(event))))

    async def _process(self, event: dict[str, Any]) -> None:
        begun, page = self.clock, event["page"]["page_id"]
        if event["page_change_kind"] != "edit":
            self.hidden[page].append(begun)
        result = await published(await self.enrichment.process(message(event), limit_s=20))
        if result is not None:
            self.done.append(_Done(event, begun, self.clock, result))

    async def _restart(self) -> None:
        """All that is under way is lost, and what is behind it in its page; they begin again, in order."""
        again = list[dict[str, Any]]()
        for event, task in self.tasks:
            page = event["page"]["page_id"]
            if not task.done() or any(earlier["page"]["page_id"] == page for earlier in again):
                again.append(event)
        self.done = [one for one in self.done if not any(one.event is event for event in again)]
        for _, task in self.tasks:
            task.cancel()
        await asyncio.gather(*(task for _, task in self.tasks), return_exceptions=True)
        self.wiki.waits.clear()
        self.enrichment = job(self.config, self.wiki)
        self.tasks = []
        for event in again:
            self._begin(event)

    async def _drain(self) -> None:
        while any(not task.done() for _, task in self.tasks):
            while self.wiki.waits:
                self.wiki.waits.pop(0).set()
            await asyncio.sleep(0)
        for _, task in self.tasks:
            task.result()

    def _check(self) -> None:
        for one in self.done:
            page, diff = one.event["page"]["page_id"], one.result.diff
            assert diff is not None
            (rendered,) = [int(text) for text in re.findall(r"(?m)^-<p>\d+ rendered (\d+)</p>$", diff["body"])]
            hidden_before = [hidden for hidden in self.hidden[page] if hidden < one.ended]
            assert all(rendered > hidden for hidden in hidden_before)
            for before in self.done:
                is_parent = (before.event["page"]["page_id"], before.result.rev) == (page, diff["base_rev_id"])
                if is_parent and not any(before.begun <= hidden <= one.ended for hidden in self.hidden[page]):
                    assert apply_patch(before.result.body, diff["body"]) == one.result.body
