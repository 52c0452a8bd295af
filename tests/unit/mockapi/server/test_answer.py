"""Plans as they are carried out, over a parser whose time the test moves."""

import asyncio
from collections.abc import Callable, Coroutine, MutableMapping
from datetime import timedelta
from typing import Any

import pytest

from mockapi.plan import Plan
from mockapi.rules.model import Rule
from mockapi.server.answer import answer
from mockapi.server.reply import Reply
from mockapi.upstream.buckets import Limit
from mockapi.upstream.load import UpstreamCounts
from mockapi.upstream.upstream import Upstream
from tests.unit.mockapi.manual_time import ManualTime

PAGE = Reply.of(200, (), b"page")
ONE = Rule.model_validate({"name": "one", "do": {"capacity": {"parses": 1, "queue": 1}}})
AT_ONCE = timedelta(milliseconds=1)
LATER = timedelta(hours=1)
SECOND = timedelta(seconds=1)


class Behind:
    """A parser with a capacity of one; `end` ends the parse under way."""

    def __init__(self) -> None:
        self._time = ManualTime()
        self.upstream = Upstream(self._time.monotonic, self._time.later)
        self.upstream.parser.follow([ONE])
        self.gone = asyncio.Event()

    @property
    def counts(self) -> UpstreamCounts:
        return self.upstream.parser.counts()

    def end(self) -> None:
        self._time.pass_s(SECOND.total_seconds())

    async def receive(self) -> MutableMapping[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    def ask(self, plan: Plan, *, renders: bool = True, client: str = "a") -> asyncio.Task[Reply | None]:
        async def render() -> Reply:
            return PAGE

        known: dict[str, Any] = {"upstream": self.upstream, "receive": self.receive, "request_id": "id"}
        return asyncio.create_task(answer(plan, render, renders=renders, client=client, **known))

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not condition():  # noqa: ASYNC110 - nothing of the mock announces these
                await asyncio.sleep(0)


Story = Callable[[Behind], Coroutine[Any, Any, None]]


def played(story: Story) -> Callable[[], None]:
    """A test of the story: it runs on a loop of its own, within 20 s."""

    def test() -> None:
        async def play() -> None:
            async with asyncio.timeout(20):
                await story(Behind())

        asyncio.run(play())

    return test


@played
async def test_a_parse_comes_before_the_page(behind: Behind) -> None:
    asked = behind.ask(Plan(parse=SECOND))
    await behind.until(lambda: behind.counts.busy == 1)
    assert not asked.done()
    behind.end()
    assert await asked == PAGE
    assert behind.counts == UpstreamCounts(parses=1, parse_s=1.0)


@pytest.mark.parametrize("plan", [Plan(), Plan(latency=AT_ONCE), Plan(gateway_timeout=LATER)])
def test_without_a_parse_or_a_capacity_nothing_is_parsed(plan: Plan) -> None:
    async def story(behind: Behind) -> None:
        assert await behind.ask(plan) == PAGE
        assert behind.counts == UpstreamCounts()

    played(story)()


@played
async def test_what_does_not_render_takes_no_slot(behind: Behind) -> None:
    plan = Plan(parse=SECOND, capacity="one", gateway_timeout=LATER)
    assert await behind.ask(plan, renders=False) == PAGE
    assert behind.counts == UpstreamCounts()


@played
async def test_who_finds_the_queue_full_is_turned_away_at_once(behind: Behind) -> None:
    plan = Plan(parse=SECOND, capacity="one", latency=LATER)
    waiting = [behind.ask(plan), behind.ask(plan)]
    await behind.until(lambda: behind.counts.queued == 1)
    refused = await behind.ask(plan)
    assert refused is not None
    assert (refused.status, refused.header(b"x-envoy-overloaded")) == (503, "true")
    for asked in waiting:
        asked.cancel()


@played
async def test_a_proxy_gives_up_and_the_parse_goes_on(behind: Behind) -> None:
    plan = Plan(parse=SECOND, capacity="one", gateway_timeout=AT_ONCE)
    replies = [await behind.ask(plan), await behind.ask(plan)]
    for reply in replies:
        assert reply is not None
        assert (reply.status, reply.header(b"server")) == (504, "envoy")
        assert b"".join(reply.body.pieces()) == b"upstream request timeout"
    assert behind.counts == UpstreamCounts(busy=1, queued=1, max_queued=1)
    behind.end()
    behind.end()
    assert behind.counts == UpstreamCounts(parses=2, abandoned=2, parse_s=2.0, max_queued=1)


@pytest.mark.parametrize("capacity", [None, "one"])
def test_a_client_leaves_and_the_parse_goes_on(capacity: str | None) -> None:
    async def story(behind: Behind) -> None:
        asked = behind.ask(Plan(parse=SECOND, capacity=capacity))
        await behind.until(lambda: behind.counts.busy == 1)
        behind.gone.set()
        assert await asked is None
        assert behind.counts == UpstreamCounts(busy=1)
        behind.end()
        assert behind.counts == UpstreamCounts(parses=1, abandoned=1, parse_s=1.0)

    played(story)()


@played
async def test_the_proxys_time_covers_latency_too(behind: Behind) -> None:
    reply = await behind.ask(Plan(latency=LATER, gateway_timeout=AT_ONCE), renders=False)
    assert reply is not None
    assert reply.status == 504


@played
async def test_latency_comes_after_the_parse_and_holds_no_slot(behind: Behind) -> None:
    asked = behind.ask(Plan(parse=SECOND, capacity="one", latency=LATER))
    await behind.until(lambda: behind.counts.busy == 1)
    behind.end()
    assert behind.counts == UpstreamCounts(parses=1, parse_s=1.0)
    behind.gone.set()
    assert await asked is None
    assert behind.counts.abandoned == 0


@played
async def test_a_request_that_is_cancelled_abandons_its_parse(behind: Behind) -> None:
    asked = behind.ask(Plan(parse=SECOND))
    await behind.until(lambda: behind.counts.busy == 1)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    behind.end()
    assert behind.counts.abandoned == 1


@played
async def test_for_ever_lasts_until_the_client_leaves_or_the_proxy_gives_up(behind: Behind) -> None:
    reply = await behind.ask(Plan(latency=None, gateway_timeout=AT_ONCE))
    assert reply is not None
    assert reply.status == 504
    asked = behind.ask(Plan(latency=None))
    behind.gone.set()
    assert await asked is None


@played
async def test_who_finds_the_bucket_empty_is_told_when_to_come_again(behind: Behind) -> None:
    plan = Plan(limits=(("r", Limit(20 / 60, by_client=True)),), parse=SECOND)
    first = behind.ask(plan)
    await behind.until(lambda: behind.counts.busy == 1)
    refused = await behind.ask(plan)
    assert refused is not None
    assert (refused.status, refused.header(b"retry-after")) == (429, "3")
    assert behind.counts.busy == 1
    other = behind.ask(plan, client="b")
    await behind.until(lambda: behind.counts.busy == 2)
    for asked in (first, other):
        asked.cancel()
