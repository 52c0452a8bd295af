"""A listener of layer `s3` in front of a store that says what the test has it say: the bytes on the wire."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from devkit.proxy.model import NewListener, NewToxic
from devkit.proxy.s3.listener import S3Listener
from devkit.proxy.toxics.store_error import StoreError
from devkit.proxy.toxics.store_slow import StoreSlow
from devkit.proxy.toxics.store_watch import StoreWatch
from devkit.proxy.toxics.toxic import Toxic
from tests.unit.devkit.proxy.served import run_on

WITHIN_S = 10.0
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED_PUT = (
    b"PUT /b/k HTTP/1.1\r\nHost: 127.0.0.1:1\r\nx-Odd-Case:  spaces \r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5;chunk-signature=abc\r\nhello\r\n0\r\nx-amz-trailer: t\r\n\r\n"
)


@dataclass
class Store:
    """Answers each request with the next of `answers`, as soon as it has got as many bytes as `expects` says."""

    answers: list[bytes] = field(default_factory=list)
    expects: list[int] = field(default_factory=list)
    got: bytearray = field(default_factory=bytearray)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while self.answers:
                self.got += await reader.readexactly(self.expects.pop(0))
                writer.write(self.answers.pop(0))
                await writer.drain()
            await reader.read()
        writer.close()


@dataclass
class Bench:
    listener: S3Listener
    store: Store
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, port = self.listener.port.address.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        self.writers.append(writer)
        return reader, writer

    def will(self, request: bytes, answer: bytes) -> None:
        self.store.expects.append(len(request))
        self.store.answers.append(answer)

    async def ask(self, request: bytes, count: int = -1) -> bytes:
        """What comes back on a new connection: so many bytes, or all until its end."""
        reader, writer = await self.connect()
        writer.write(request)
        return await asyncio.wait_for(reader.read(-1) if count < 0 else reader.readexactly(count), WITHIN_S)

    async def add(self, toxic: Toxic, *, seed: int = 0) -> None:
        await self.listener.add(NewToxic(name="t", do=toxic, seed=seed))


@contextlib.asynccontextmanager
async def bench() -> AsyncIterator[Bench]:
    store = Store()
    server = await asyncio.start_server(store.serve, "127.0.0.1", 0)
    upstream = "{}:{}".format(*server.sockets[0].getsockname())
    listener = S3Listener(NewListener(name="store", upstream=upstream, layer="s3"))
    await listener.port.listen(on=True)
    served = Bench(listener, store)
    try:
        yield served
    finally:
        for writer in served.writers:
            writer.close()
        await listener.close()
        server.close()


on_bench = run_on(bench)


def get(path: str = "/b/k") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n".encode()


def put(body: bytes, path: str = "/b/k") -> bytes:
    return f"PUT {path} HTTP/1.1\r\nHost: 127.0.0.1:1\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize("request_", [get("/b/%C3%A4%2F?x=1&y"), put(b"x" * 200_000), CHUNKED_PUT])
@on_bench
async def test_a_request_reaches_the_store_as_it_was_sent(bench: Bench, request_: bytes) -> None:
    bench.will(request_, OK)
    assert await bench.ask(request_, len(OK)) == OK
    assert bytes(bench.store.got) == request_


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"y" * 100_000,
    ],
)
@on_bench
async def test_an_answer_reaches_the_client_as_it_was_sent_and_the_connection_is_kept(
    bench: Bench, answer: bytes
) -> None:
    reader, writer = await bench.connect()
    for _ in range(2):
        bench.will(get(), answer)
    for _ in range(2):
        writer.write(get())
        assert await asyncio.wait_for(reader.readexactly(len(answer)), WITHIN_S) == answer


@pytest.mark.parametrize("line", [b"Connection: close\r\nContent-Length: 2\r\n", b""])
@on_bench
async def test_an_answer_that_ends_the_connection_ends_it_for_the_client(bench: Bench, line: bytes) -> None:
    answer = b"HTTP/1.1 200 OK\r\n" + line + b"\r\nok"
    bench.will(get(), answer)
    reader, writer = await bench.connect()
    writer.write(get())
    assert await asyncio.wait_for(reader.readexactly(len(answer)), WITHIN_S) == answer
    if line:
        assert await asyncio.wait_for(reader.read(), WITHIN_S) == b""


@on_bench
async def test_a_client_that_waits_is_told_to_continue(bench: Bench) -> None:
    head = b"PUT /b/k HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
    bench.will(head, b"HTTP/1.1 100 Continue\r\n\r\n")
    bench.will(b"body", OK)
    reader, writer = await bench.connect()
    writer.write(head)
    assert await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), WITHIN_S) == b"HTTP/1.1 100 Continue\r\n\r\n"
    writer.write(b"body")
    assert await asyncio.wait_for(reader.readexactly(len(OK)), WITHIN_S) == OK


@on_bench
async def test_a_client_that_waits_and_is_refused_keeps_its_body(bench: Bench) -> None:
    head = b"PUT /b/k HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
    refusal = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"
    bench.will(head, refusal)
    assert await bench.ask(head) == refusal  # and the connection ends


@on_bench
async def test_bytes_that_are_no_http_end_the_connection(bench: Bench) -> None:
    assert await bench.ask(b"\x16\x03\x01 hello\r\n\r\n") == b""


@on_bench
async def test_slow_down_is_answered_in_the_words_of_s3(bench: Bench) -> None:
    await bench.add(StoreError(methods=("PUT",)))
    reader, writer = await bench.connect()
    for _ in range(2):  # the connection is kept
        writer.write(put(b"body"))
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), WITHIN_S)
        assert head.startswith(b"HTTP/1.1 503 Slow Down\r\n")
        body = await reader.readuntil(b"</Error>")
        assert b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message>" in body
        assert b"<Resource>/b/k</Resource>" in body
        assert f"Content-Length: {len(body)}".encode() in head
    assert bench.store.got == b""
    counts = (await bench.listener.remove("t")).counts
    assert (counts.requests, counts.connections, counts.bytes_dropped) == (2, 1, 8)
    bench.will(put(b"body"), OK)
    writer.write(put(b"body"))
    assert await asyncio.wait_for(reader.readexactly(len(OK)), WITHIN_S) == OK


@on_bench
async def test_an_error_to_head_has_no_body(bench: Bench) -> None:
    await bench.add(StoreError(status=403))
    answer = await bench.ask(b"HEAD /b/k HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    assert answer.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("toxic", "passes", "answered"),
    [
        (StoreError(methods=("PUT",)), get(), put(b"x")),
        (StoreError(bucket="b"), get("/other/k"), get("/b/k")),
        (StoreError(prefix="logs/"), get("/b/data/1"), get("/b/logs/1")),
        (StoreError(prefix="ü/"), get("/b/u"), get("/b/%C3%BC/1")),
        (StoreError(path="/b/*/commits/?*"), get("/b/x/commits/"), get("/b/x/y/commits/0")),
        (StoreError(path="/ü*"), get("/u/1"), get("/%C3%BC/1")),
        (StoreError(prefix="logs/"), get("/b?list-type=2&prefix=data"), get("/b?list-type=2&prefix=logs%2F1")),
    ],
)
@on_bench
async def test_an_error_is_for_the_requests_it_names(
    bench: Bench, toxic: Toxic, passes: bytes, answered: bytes
) -> None:
    await bench.add(toxic)
    bench.will(passes, OK)
    assert await bench.ask(passes, len(OK)) == OK
    assert (await bench.ask(answered, 12)).startswith(b"HTTP/1.1 503")


def test_a_share_is_a_function_of_seed_method_key_and_attempt() -> None:
    def drawn(seed: int, keys: int = 60) -> list[bool]:
        refused = []

        @on_bench
        async def ask_for_all(bench: Bench) -> None:
            await bench.add(StoreError.model_validate({"share": "30%"}), seed=seed)
            for number in [*range(keys), *range(keys)]:
                request = get(f"/b/{number}")
                bench.store.answers[:], bench.store.expects[:] = [OK], [len(request)]
                refused.append((await bench.ask(request, 12)).startswith(b"HTTP/1.1 503"))

        ask_for_all()
        return refused

    draws = drawn(1)
    assert draws == drawn(1)
    assert draws != drawn(2)
    assert draws[:60] != draws[60:]  # the second attempts draw anew
    assert 20 <= sum(draws) <= 52


@pytest.mark.parametrize("slow", [{"before": "80ms"}, {"through": "80ms"}])
@on_bench
async def test_a_slow_upload_arrives_late_and_whole(bench: Bench, slow: dict[str, str]) -> None:
    await bench.add(StoreSlow.model_validate(slow))
    request = put(b"z" * 300_000)
    bench.will(request, OK)
    began = time.monotonic()
    assert await bench.ask(request, len(OK)) == OK
    assert time.monotonic() - began >= 0.08
    assert bytes(bench.store.got) == request
    counts = (await bench.listener.remove("t")).counts
    assert (counts.requests, counts.bytes_delayed, counts.bytes_dropped) == (1, 300_000, 0)


@pytest.mark.parametrize(("slow", "requests"), [({"through": "1h"}, 0), ({"before": "1ms"}, 1)])
@on_bench
async def test_a_request_without_a_body_counts_only_where_it_waited(
    bench: Bench, slow: dict[str, str], requests: int
) -> None:
    await bench.add(StoreSlow.model_validate({"methods": ["GET"]} | slow))
    bench.will(get(), OK)
    assert await bench.ask(get(), len(OK)) == OK
    counts = (await bench.listener.remove("t")).counts
    assert (counts.requests, counts.first_at is not None) == (requests, requests > 0)


async def seen(bench: Bench) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not bench.listener.toxics[0].counts.requests:  # noqa: ASYNC110 - it has no event
            await asyncio.sleep(0.001)


@on_bench
async def test_a_slow_upload_goes_on_when_the_toxic_ends(bench: Bench) -> None:
    await bench.add(StoreSlow(before=timedelta(hours=1), through=timedelta(hours=1)))
    request = put(b"z")
    bench.will(request, OK)
    asking = asyncio.ensure_future(bench.ask(request, len(OK)))
    await seen(bench)
    await bench.listener.remove("t")
    assert await asking == OK


@on_bench
async def test_a_request_that_is_watched_for_waits_and_meets_what_began_meanwhile(bench: Bench) -> None:
    await bench.add(StoreWatch(methods=("PUT",), path="*/commits/*"))
    bench.will(get(), OK)
    assert await bench.ask(get(), len(OK)) == OK  # of no concern
    asking = asyncio.ensure_future(bench.ask(put(b"z", "/b/commits/0"), 12))
    await seen(bench)
    assert bytes(bench.store.got) == get()
    await bench.listener.add(NewToxic(name="error", do=StoreError()))
    assert not asking.done()
    counts = (await bench.listener.remove("t")).counts
    assert (await asking).startswith(b"HTTP/1.1 503")
    assert (counts.requests, counts.missed, counts.connections) == (1, 0, 1)


@on_bench
async def test_a_request_that_is_watched_for_goes_on_when_nobody_lets_it_go(bench: Bench) -> None:
    await bench.add(StoreWatch(hold=timedelta(milliseconds=20)))
    bench.will(get(), OK)
    assert await bench.ask(get(), len(OK)) == OK
    counts = (await bench.listener.remove("t")).counts
    assert (counts.requests, counts.missed) == (1, 1)
