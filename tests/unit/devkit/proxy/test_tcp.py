"""A listener of layer `tcp`: what passes without a toxic, and what each toxic does to chunks and connections."""

import asyncio
import time
from datetime import timedelta

import pytest
from pydantic import TypeAdapter, ValidationError

from devkit.proxy.errors import TakenError, UnknownNameError
from devkit.proxy.model import NewToxic
from devkit.proxy.proof import ProxyProof
from devkit.proxy.tcp.pipe import MOST_HELD_BYTES
from devkit.proxy.toxics.bandwidth import Bandwidth
from devkit.proxy.toxics.blackhole import Blackhole
from devkit.proxy.toxics.cut import Cut
from devkit.proxy.toxics.half_open import HalfOpen
from devkit.proxy.toxics.latency import LatencyToxic
from devkit.proxy.toxics.registry import TOXICS, Do
from devkit.proxy.toxics.reset import Reset
from devkit.proxy.toxics.toxic import Chunk, StreamEffect, ToxicContext
from tests.unit.devkit.proxy.served import Bench, on_bench

DO = TypeAdapter(Do)


def milliseconds(count: int) -> timedelta:
    return timedelta(milliseconds=count)


@on_bench
async def test_bytes_pass_unchanged_and_in_order(bench: Bench) -> None:
    client = await bench.connect()
    sent = bytes(range(256)) * 40_000
    heard, _ = await asyncio.gather(client.hear(len(sent)), client.say(sent))
    assert heard == sent


@on_bench
async def test_the_end_of_one_direction_leaves_the_other_open(bench: Bench) -> None:
    client = await bench.connect()
    await client.say(b"last words")
    client.writer.write_eof()
    assert await client.hear_all() == b"last words"
    assert bench.echo.ends == ["fin"]


@on_bench
async def test_a_reset_of_the_client_reaches_the_server(bench: Bench) -> None:
    client = await bench.connect()
    assert await client.says_back(b"x")
    client.writer.transport.abort()  # with what it has not read, which makes it RST
    await bench.until(lambda: bool(bench.echo.ends))


@on_bench
async def test_an_upstream_that_is_not_there_resets_the_client(bench: Bench) -> None:
    bench.listener.new = bench.listener.new.model_copy(update={"upstream": "127.0.0.1:1"})
    with pytest.raises(ConnectionError):  # it may come while the client still connects
        await (await bench.connect()).hear(1)


@pytest.mark.parametrize(("direction", "delays"), [("to_server", 1), ("to_client", 1), ("both", 2)])
@on_bench
async def test_latency_delays_each_direction_it_is_given(bench: Bench, direction: str, delays: int) -> None:
    client = await bench.connect()
    assert await client.says_back(b"before")
    await bench.add(LatencyToxic(time=milliseconds(60)), direction)
    began = time.monotonic()
    assert await client.says_back(b"delayed")
    assert time.monotonic() - began >= 0.06 * delays
    counts = (await bench.remove()).counts
    assert (counts.connections, counts.bytes_delayed, counts.bytes_dropped) == (1, 7 * delays, 0)
    assert counts.first_at is not None


@on_bench
async def test_what_latency_holds_goes_on_at_its_end(bench: Bench) -> None:
    client = await bench.connect()
    await bench.add(LatencyToxic(time=timedelta(hours=1)))
    await client.say(b"held")
    await bench.until(lambda: bench.state.counts.bytes_delayed == 4)
    await bench.remove()
    assert await client.hear(4) == b"held"


@on_bench
async def test_jitter_keeps_the_order(bench: Bench) -> None:
    client = await bench.connect()
    await bench.add(LatencyToxic(time=milliseconds(1), jitter=milliseconds(30)), "to_server")
    for number in range(20):
        await client.say(b"%02d" % number)
        await bench.until(lambda count=2 * (number + 1): bench.state.counts.bytes_delayed == count)
    assert await client.hear(40) == b"".join(b"%02d" % number for number in range(20))


@on_bench
async def test_bandwidth_is_shared_by_all_connections(bench: Bench) -> None:
    one, other = await bench.connect(), await bench.connect()
    await bench.add(Bandwidth(rate=100_000), "to_server")
    began = time.monotonic()
    await asyncio.gather(one.say(b"a" * 10_000), other.say(b"b" * 10_000))
    await asyncio.gather(one.hear(10_000), other.hear(10_000))
    assert time.monotonic() - began >= 0.2
    counts = (await bench.remove()).counts
    assert (counts.connections, counts.bytes_delayed) == (2, 20_000)
    assert await one.says_back(b"c" * 1_000_000)


@on_bench
async def test_a_blackhole_holds_everything_and_loses_nothing(bench: Bench) -> None:
    old = await bench.connect()
    assert await old.says_back(b"before")
    await bench.add(Blackhole())
    new = await bench.connect()
    await old.say(b"old")
    await new.say(b"new")
    await bench.until(lambda: bench.state.counts.bytes_delayed == 6)
    assert bench.echo.got == b"before"
    await bench.remove()
    assert (await old.hear(3), await new.hear(3)) == (b"old", b"new")


@on_bench
async def test_a_blackhole_holds_the_ends_of_connections_too(bench: Bench) -> None:
    client = await bench.connect()
    assert await client.says_back(b"x")
    await bench.add(Blackhole())
    client.writer.close()
    await bench.until(lambda: bench.state.counts.connections == 1)
    assert bench.echo.ends == []
    await bench.remove()
    await bench.until(lambda: bench.echo.ends == ["fin"])


@on_bench
async def test_what_is_held_is_bounded_and_all_arrives(bench: Bench) -> None:
    client = await bench.connect()
    await bench.add(Blackhole(), "to_server")
    sent = b"z" * (4 * MOST_HELD_BYTES)
    sending = asyncio.ensure_future(client.say(sent))
    await bench.until(lambda: bench.state.counts.bytes_delayed >= MOST_HELD_BYTES)
    for _ in range(20):
        await asyncio.sleep(0.001)
    assert bench.state.counts.bytes_delayed < 2 * MOST_HELD_BYTES
    assert not sending.done()
    await bench.remove()
    assert len(await client.hear(len(sent))) == len(sent)
    await sending


@on_bench
async def test_a_cut_closes_and_refuses_and_then_listens_at_the_same_port(bench: Bench) -> None:
    client = await bench.connect()
    assert await client.says_back(b"x")
    await bench.add(Cut())
    assert await client.hear_all() == b""
    with pytest.raises(ConnectionRefusedError):
        await bench.connect()
    assert bench.listener.state.listening is False
    await bench.until(lambda: bool(bench.echo.ends))
    counts = (await bench.remove()).counts
    assert counts.connections == 1
    assert await (await bench.connect()).says_back(b"again")


@on_bench
async def test_a_cut_proves_itself_without_a_connection(bench: Bench) -> None:
    await bench.add(Cut())
    assert (await bench.remove()).counts.first_at is not None


@on_bench
async def test_a_cut_counts_what_was_held(bench: Bench) -> None:
    client = await bench.connect()
    await bench.listener.add(NewToxic(name="hold", do=Blackhole()))
    await client.say(b"lost")
    await bench.until(lambda: bench.state.counts.bytes_delayed == 4)
    await bench.add(Cut())
    assert (await bench.remove()).counts.bytes_dropped == 4


@on_bench
async def test_a_reset_ends_open_and_new_connections_with_rst(bench: Bench) -> None:
    old = await bench.connect()
    assert await old.says_back(b"x")
    await bench.add(Reset())
    with pytest.raises(ConnectionResetError):
        await old.hear(1)
    with pytest.raises(ConnectionResetError):  # it may come while the client still connects
        await (await bench.connect()).hear(1)
    await bench.until(lambda: bench.echo.ends == ["rst"])
    assert (await bench.remove()).counts.connections == 2
    assert await (await bench.connect()).says_back(b"again")


@on_bench
async def test_half_open_to_the_server_leaves_the_client_believing(bench: Bench) -> None:
    client = await bench.connect()
    assert await client.says_back(b"x")
    await bench.add(HalfOpen(), "to_server")
    await bench.until(lambda: bench.echo.ends == ["fin"])
    await client.say(b"into nothing")
    await bench.until(lambda: bench.state.counts.bytes_dropped == 12)
    assert not client.reader.at_eof()
    assert await (await bench.connect()).says_back(b"new connections work")
    await bench.remove()
    with pytest.raises(ConnectionResetError):
        await client.hear(1)


@on_bench
async def test_half_open_to_the_client_leaves_the_server_with_a_client_that_is_gone(bench: Bench) -> None:
    client = await bench.connect()
    assert await client.says_back(b"x")
    await bench.add(HalfOpen(), "to_client")
    assert await client.hear_all() == b""
    assert bench.echo.ends == []
    await bench.remove()
    await bench.until(lambda: bench.echo.ends == ["rst"])


@on_bench
async def test_half_open_both_ways_tells_neither(bench: Bench) -> None:
    client = await bench.connect()
    assert await client.says_back(b"x")
    await bench.add(HalfOpen())
    await client.say(b"hello?")
    await bench.until(lambda: bench.state.counts.bytes_dropped == 6)
    client.writer.close()
    await client.writer.wait_closed()
    assert bench.echo.ends == []
    assert bench.listener.connection_counts() == (1, 1)
    await bench.remove()
    await bench.until(lambda: bench.echo.ends == ["rst"])


@on_bench
async def test_half_open_swallows_also_what_waited_for_a_server_that_did_not_read(bench: Bench) -> None:
    """The echo waits for the client to read, the proxy for the echo: when it is severed nobody waits any more."""
    client = await bench.connect()
    client.writer.write(b"x" * (6 * MOST_HELD_BYTES))
    await bench.until(lambda: len(bench.echo.got) > 0)
    [connection] = bench.listener._connections.values()
    await bench.until(lambda: connection.to_server._sink_full and connection.to_server._source_paused)
    await bench.add(HalfOpen(), "to_server")
    await asyncio.wait_for(client.writer.drain(), 10)
    client.writer.close()
    await bench.until(lambda: bench.listener.connection_counts() == (1, 0))


@on_bench
async def test_toxics_add_up(bench: Bench) -> None:
    client = await bench.connect()
    await bench.add(LatencyToxic(time=milliseconds(50)), "to_server")
    await bench.listener.add(NewToxic(name="slow", do=Bandwidth(rate=20_000), direction="to_server"))
    began = time.monotonic()
    assert await client.says_back(b"x" * 2000)
    assert time.monotonic() - began >= 0.1


@on_bench
async def test_a_toxic_ends_by_itself_after_its_ttl_and_keeps_its_counts(bench: Bench) -> None:
    await bench.listener.add(NewToxic(name="short", do=Cut(), ttl=milliseconds(20)))
    await bench.until(lambda: bench.listener.state.listening)
    assert (await bench.listener.remove("short")).ended_at is not None
    assert await (await bench.connect()).says_back(b"x")


@on_bench
async def test_a_name_acts_once_at_a_time(bench: Bench) -> None:
    await bench.add(Blackhole())
    with pytest.raises(TakenError):
        await bench.add(Cut())
    await bench.remove()
    await bench.add(Cut())
    assert [state.do.key for state in bench.listener.toxics] == ["blackhole", "cut"]
    with pytest.raises(UnknownNameError):
        await bench.listener.remove("other")


def context(*, seed: int = 0, name: str = "t") -> ToxicContext:
    return ToxicContext(name, seed, "both", now=100.0, proof=ProxyProof())


def delays(effect: StreamEffect, *, connection: int, numbers: range) -> list[float]:
    delays_s = []
    for number in numbers:
        chunk = Chunk(connection, "to_server", number, arrived=200.0, data=b"x")
        effect.took(chunk)
        delays_s.append(effect.ready_at(chunk) - 200.0)
    return delays_s


def test_jitter_lies_between_the_time_and_time_plus_jitter() -> None:
    jitter = LatencyToxic(time=timedelta(seconds=1), jitter=timedelta(seconds=2))
    drawn = delays(jitter.effect(context()), connection=1, numbers=range(500))
    assert 1 <= min(drawn) < 1.1
    assert 2.9 < max(drawn) <= 3


def test_jitter_is_a_function_of_seed_connection_and_chunk() -> None:
    jitter = LatencyToxic(time=timedelta(0), jitter=timedelta(seconds=1))

    def drawn(seed: int = 0, name: str = "t", order: tuple[int, ...] = (7, 9), first: int = 1) -> list[list[float]]:
        effect = jitter.effect(context(seed=seed, name=name))
        return [delays(effect, connection=connection, numbers=range(first, first + 5)) for connection in order]

    assert drawn() == drawn(order=(21, 33), first=4)  # as in a second arm, where the listener has served before
    assert drawn() != drawn(seed=1)
    assert drawn() != drawn(name="other")
    assert drawn()[0] != drawn()[1]
    assert len(set(drawn()[0])) == 5


def test_a_chunk_has_the_same_delay_however_often_it_is_asked() -> None:
    effect = LatencyToxic(time=timedelta(0), jitter=timedelta(seconds=1)).effect(context())
    chunk = Chunk(1, "to_client", 3, arrived=200.0, data=b"x")
    effect.took(chunk)
    assert effect.ready_at(chunk) == effect.ready_at(chunk)


def test_bandwidth_gives_connections_turns() -> None:
    link = Bandwidth(rate=1000).effect(context())
    one = Chunk(1, "to_server", 1, arrived=100.0, data=b"x" * 50)
    other = Chunk(2, "to_server", 1, arrived=100.0, data=b"x" * 50)
    assert link.ready_at(one) == pytest.approx(100.05)
    assert link.ready_at(other) == pytest.approx(100.10)
    assert link.ready_at(one) == pytest.approx(100.05)
    link.passed(one)
    assert link.ready_at(one) == pytest.approx(100.15)


def test_the_directions_of_a_link_do_not_share_it_and_an_idle_link_saves_nothing_up() -> None:
    link, idle = Bandwidth(rate=1000).effect(context()), Bandwidth(rate=1000).effect(context())
    assert link.ready_at(Chunk(1, "to_server", 1, 100.0, b"x" * 50)) == pytest.approx(100.05)
    assert link.ready_at(Chunk(1, "to_client", 1, 100.0, b"x" * 50)) == pytest.approx(100.05)
    assert idle.ready_at(Chunk(1, "to_server", 1, 500.0, b"x" * 50)) == pytest.approx(500.05)


def test_a_toxic_is_read_by_its_key_and_written_back() -> None:
    toxic = DO.validate_python({"latency": {"time": "200ms"}})
    assert toxic == LatencyToxic(time=timedelta(milliseconds=200))
    assert DO.validate_json(DO.dump_json(toxic)) == toxic
    assert DO.validate_python({"cut": {}}) == Cut()


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ({"latencies": {}}, "did you mean 'latency'"),
        ({"cut": {}, "reset": {}}, "one toxic by its key"),
        ("cut", "one toxic by its key"),
        ({"latency": {"time": 200}}, "not a duration; write 200ms or 200s"),
        ({"latency": {}}, "Field required"),
        ({"latency": {"time": "0s"}}, "delays nothing"),
        ({"cut": {"hard": True}}, "Extra inputs"),
        ({"bandwidth": {"rate": 0}}, "greater than or equal to 1"),
    ],
)
def test_what_is_no_toxic_is_refused(do: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        DO.validate_python(do)


@pytest.mark.parametrize("key", TOXICS)
def test_every_toxic_says_what_it_does(key: str) -> None:
    assert TOXICS[key].__doc__
