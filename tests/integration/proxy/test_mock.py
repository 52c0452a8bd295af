"""The real mock behind the TCP proxy, asked by the pipeline's own client: what each fault of the network is to it.

Each test has one client that has a connection open and makes one request for a fetch. Checked: how the fetch fails, or
how long it takes; what a retry would be told; that the same client works again when the fault has ended.
"""

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from devkit.proxy.direction import Sense
from devkit.proxy.toxics.latency import LatencyToxic
from devkit.stack.front import Front
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.client import FetchedText, FetchFailedError, WikiClient
from tests.integration.mockapi.conftest import Mock, start, stop
from tests.integration.proxy.fault import PlayedFault

ROOMS = ("devkit/faults", "devkit/proxy", "pipeline/fetch")
PART = "mock-api"
REVISION = 28674
TIMEOUT_S, PATIENCE_S = 1.0, 30.0
BODY_BYTES = 60_000
HEAD_BYTES = 4096  # more than the mock's headers take


@dataclass(frozen=True)
class Fetched:
    """What became of one fetch: its text, or the failure."""

    text: str = ""
    kind: str = ""
    why: str = ""
    transient: bool = False
    took_s: float = 0.0


class Bench:
    """A client of the mock behind the proxy."""

    def __init__(self, front: Front, address: str, mock: Mock) -> None:
        self.front, self.address, self.mock, self.fault = front, address, mock, PlayedFault(front)

    def play(self, test: Callable[["Asking"], Awaitable[None]], *, patient: bool = False) -> None:
        """With a request timeout that a fault is to exceed, or `patient` one that it is not to."""
        asyncio.run(self._play(test, PATIENCE_S if patient else TIMEOUT_S))

    async def _play(self, test: Callable[["Asking"], Awaitable[None]], timeout_s: float) -> None:
        config = PipelineConfig.model_validate(
            {
                "source": {"bootstrap_servers": "127.0.0.1:1"},
                "sink": {"bootstrap_servers": "127.0.0.1:1"},
                "mediawiki": {"endpoint": f"http://{self.address}"},
                "checkpoint": "unused",
                "fetch": {"total_requests": 1, "request_timeout": f"{timeout_s:g}s", "deadline": "60s"},
            }
        )
        client = WikiClient(config, clock=time.monotonic, now=lambda: datetime.now(UTC), jitter=random.Random(1))
        try:
            await test(Asking(client, self.fault))
        finally:
            await client.close()

    @property
    def connections(self) -> int:
        [listener] = [one for one in self.front.control.listeners() if one.name == PART]
        return listener.connections


@dataclass(frozen=True)
class Asking:
    """What a test does with its client. Faults begin and end beside the loop, which must not stand still."""

    client: WikiClient
    fault: PlayedFault

    async def fetch(self) -> Fetched:
        began = time.monotonic()
        try:
            found: FetchedText = await self.client.fetch(
                "enwiki", REVISION, request_id="event:latest", deadline=self.client.deadline(PATIENCE_S * 2)
            )
        except FetchFailedError as error:
            failure = error.failure
            return Fetched("", failure.error_type, failure.message, error.transient, time.monotonic() - began)
        return Fetched(found.text, took_s=time.monotonic() - began)

    async def begin(self, name: str, **parameters: object) -> None:
        await asyncio.to_thread(self.fault.begin, {name: {"part": PART, **parameters}})

    async def end(self) -> None:
        await asyncio.to_thread(self.fault.end)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not await asyncio.to_thread(condition):  # noqa: ASYNC110 - what is awaited has no event
                await asyncio.sleep(0.01)

    async def works(self) -> None:
        """Also where the machine is slow: a fetch that timed out is made again."""
        async with asyncio.timeout(PATIENCE_S):
            while not (await self.fetch()).text:
                pass


@pytest.fixture(scope="module")
def shared_mock(pytestconfig: pytest.Config) -> Iterator[Mock]:
    mock = start(pytestconfig.rootpath)
    yield mock
    assert stop(mock) == ""


@pytest.fixture
def bench(front: Front, shared_mock: Mock) -> Iterator[Bench]:
    assert shared_mock.ask("/__mock/state", method="PUT", body={"seed": 1}).status == 200
    yield Bench(front, front.lead(PART, f"127.0.0.1:{shared_mock.port}"), shared_mock)
    front.control.close(PART)


@pytest.mark.parametrize(("direction", "times"), [("to_server", 1), ("to_client", 1), ("both", 2)])
def test_latency_is_a_slow_answer(bench: Bench, direction: Sense, times: int) -> None:
    async def test(asking: Asking) -> None:
        await asking.works()
        await asking.begin("network_latency", time="300ms", direction=direction)
        late = await asking.fetch()
        assert late.text
        assert late.took_s >= 0.3 * times
        await asking.end()
        await asking.works()

    bench.play(test, patient=True)


def test_latency_beyond_the_timeout_is_no_answer(bench: Bench) -> None:
    async def test(asking: Asking) -> None:
        await asking.works()
        await asking.begin("network_latency", time="5s", direction="to_client")
        assert_silent(await asking.fetch())
        await asking.end()
        await asking.works()

    bench.play(test)


def test_bandwidth_bounds_how_fast_a_page_comes(bench: Bench) -> None:
    bench.mock.rules({"name": "long", "do": {"body": {"size": BODY_BYTES, "encoding": "identity"}}})

    async def test(asking: Asking) -> None:
        await asking.begin("network_bandwidth", rate="100kB", direction="to_client")
        slow = await asking.fetch()
        assert len(slow.text.encode()) == BODY_BYTES
        assert slow.took_s >= BODY_BYTES / 100_000
        await asking.end()
        await asking.works()

    bench.play(test, patient=True)


def test_a_cut_refuses_connections(bench: Bench) -> None:
    async def test(asking: Asking) -> None:
        await asking.works()
        await asking.begin("network_cut")
        assert_broken(await asking.fetch(), "ClientConnectorError", "ServerDisconnectedError")
        assert_broken(await asking.fetch(), "ClientConnectorError")
        await asking.end()
        await asking.works()

    bench.play(test)


def test_a_cut_in_the_middle_of_a_page_is_a_body_that_ends_early(bench: Bench) -> None:
    body = {"size": BODY_BYTES, "encoding": "identity"}
    bench.mock.rules({"name": "torn", "times": 1, "do": {"body": body, "latency_through_body": "20s"}})

    async def test(asking: Asking) -> None:
        bench.front.control.add(PART, "seen", LatencyToxic(time=timedelta(milliseconds=1)), direction="to_client")
        under_way = asyncio.create_task(asking.fetch())
        await asking.until(lambda: bench.front.control.toxic(PART, "seen").counts.bytes_delayed > HEAD_BYTES)
        await asking.begin("network_cut")
        assert_broken(await under_way, "ClientPayloadError")
        await asking.end()
        await asking.works()

    bench.play(test, patient=True)


def test_a_blackhole_is_silence_and_then_an_answer(bench: Bench) -> None:
    async def test(asking: Asking) -> None:
        await asking.works()
        await asking.begin("network_blackhole")
        assert_silent(await asking.fetch())
        await asking.end()
        await asking.works()

    bench.play(test)


def test_who_waits_longer_than_a_blackhole_lasts_gets_the_answer_of_its_own_connection(bench: Bench) -> None:
    async def test(asking: Asking) -> None:
        await asking.works()
        before = bench.connections
        await asking.begin("network_blackhole")
        under_way = asyncio.create_task(asking.fetch())
        await asking.until(lambda: bench.fault.counts.bytes_delayed > 0)
        assert not under_way.done()
        await asking.end()
        assert (await under_way).text
        assert bench.connections == before

    bench.play(test, patient=True)


def test_a_reset_breaks_what_is_open_and_what_is_new(bench: Bench) -> None:
    async def test(asking: Asking) -> None:
        await asking.works()
        await asking.begin("network_reset")
        for _ in range(2):
            assert_broken(await asking.fetch(), "ClientOSError", "ServerDisconnectedError", "ClientConnectorError")
        await asking.end()
        await asking.works()

    bench.play(test)


def test_a_half_open_connection_is_silence_and_a_new_one_works(bench: Bench) -> None:
    async def test(asking: Asking) -> None:
        await asking.works()
        await asking.begin("network_half_open", direction="to_server")
        assert_silent(await asking.fetch())
        await asking.works()
        assert bench.fault.counts.bytes_dropped > 0
        await asking.end()
        await asking.works()

    bench.play(test)


def assert_silent(fetched: Fetched) -> None:
    assert (fetched.kind, fetched.transient) == ("fetch_failed", True)
    assert fetched.why.endswith(f"no answer within {TIMEOUT_S:g} s")
    assert fetched.took_s >= TIMEOUT_S


def assert_broken(fetched: Fetched, *errors: str) -> None:
    assert (fetched.kind, fetched.transient) == ("fetch_failed", True), fetched
    assert re.search(rf": ({'|'.join(errors)}): ", fetched.why), fetched.why
