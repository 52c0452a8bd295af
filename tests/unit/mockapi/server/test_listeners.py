import asyncio
import socket

from mockapi.rules.model import Rule
from mockapi.server.listeners import Listeners, RefusalWatch


class Ending(asyncio.Protocol):
    """Ends each connection, and notes that."""

    def __init__(self, ended: asyncio.Queue[None]) -> None:
        self._ended = ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended.put_nowait(None)


class Bench:
    def __init__(self) -> None:
        self.ended: asyncio.Queue[None] = asyncio.Queue()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.servers: list[asyncio.Server] = []

    def protocol(self) -> Ending:
        return Ending(self.ended)

    async def listeners(self) -> Listeners:
        self.servers.append(await asyncio.get_running_loop().create_server(self.protocol, sock=self.socket))
        return Listeners(self.servers, [self.socket], self.protocol)

    async def connects(self) -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except ConnectionRefusedError:
            return False
        await self.ended.get()
        writer.transport.abort()
        return True


def test_it_leaves_its_port_and_comes_back_to_it() -> None:
    async def come_and_go() -> list[bool]:
        bench = Bench()
        listeners = await bench.listeners()
        seen = []
        for on in (True, False, False, True, True, False):
            await listeners.listen(on=on)
            seen.append(await bench.connects())
        listeners.release()
        assert not bench.servers
        # Given up, the port can be taken by anybody.
        socket.create_server(("127.0.0.1", bench.port)).close()
        return seen

    assert asyncio.run(come_and_go()) == [True, False, False, True, True, False]


def test_the_port_stays_taken_meanwhile() -> None:
    async def taken() -> bool:
        bench = Bench()
        listeners = await bench.listeners()
        await listeners.listen(on=False)
        other = socket.socket()
        try:
            other.bind(("127.0.0.1", bench.port))
        except OSError:
            return True
        finally:
            other.close()
            listeners.release()
        return False

    assert asyncio.run(taken())


class Rules:
    def __init__(self) -> None:
        self.effective: tuple[Rule, ...] = ()
        self.now_s = 100.0
        self.watch = RefusalWatch(lambda: self.effective, lambda: self.now_s)

    def at(self, seconds: float) -> bool:
        self.now_s = 100.0 + seconds
        return self.watch.refuses()


def refusing(seconds: int | None, name: str = "r") -> Rule:
    refuse = {} if seconds is None else {"for": f"{seconds}s"}
    return Rule.model_validate({"name": name, "do": {"refuse": refuse}, "ttl": "1h"})


def test_no_rule_refuses() -> None:
    rules = Rules()
    rules.effective = (Rule.model_validate({"name": "r", "do": {"status": 503}}),)
    assert not rules.at(0)


def test_it_refuses_for_its_time_from_when_it_was_first_seen() -> None:
    rules = Rules()
    rules.effective = (refusing(5),)
    assert [rules.at(seconds) for seconds in (1, 5, 6, 7)] == [True, True, False, False]


def test_without_a_time_as_long_as_it_is_in_force() -> None:
    rules = Rules()
    rules.effective = (refusing(None),)
    assert rules.at(1_000)
    rules.effective = ()
    assert not rules.at(1_001)


def test_the_same_rule_put_again_begins_again() -> None:
    rules = Rules()
    rules.effective = (refusing(5),)
    assert [rules.at(0), rules.at(9)] == [True, False]
    rules.effective = (refusing(5),)
    assert rules.at(10)


def test_of_two_rules_the_longer_one_counts() -> None:
    rules = Rules()
    rules.effective = (refusing(5), refusing(9, "s"))
    assert [rules.at(seconds) for seconds in (0, 8, 9)] == [True, True, False]
