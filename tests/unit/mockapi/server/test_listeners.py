import asyncio
import socket

import pytest

from mockapi.errors import AddressError
from mockapi.rules.model import Rule
from mockapi.server.listeners import Listeners, RefusalWatch
from mockapi.server.server import bind


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


NOT_ONE = Rule.model_validate({"name": "r", "do": {"status": 503}})


@pytest.mark.parametrize(
    ("effective", "refused"),
    [
        pytest.param((NOT_ONE,), {0: False}, id="no rule refuses"),
        pytest.param((refusing(5),), {1: True, 5: True, 6: False, 7: False}, id="from when it was first seen"),
        pytest.param((refusing(None),), {0: True, 1_000: True}, id="without a time"),
        pytest.param((refusing(5), refusing(9, "s")), {0: True, 8: True, 9: False}, id="the longer one counts"),
    ],
)
def test_it_refuses_for_its_time(effective: tuple[Rule, ...], refused: dict[float, bool]) -> None:
    rules = Rules()
    rules.effective = effective
    assert {seconds: rules.at(seconds) for seconds in refused} == refused


def test_the_same_rule_put_again_begins_again_and_without_it_nothing_is_refused() -> None:
    rules = Rules()
    rules.effective = (refusing(5),)
    assert [rules.at(0), rules.at(9)] == [True, False]
    rules.effective = (refusing(5),)
    assert rules.at(10)
    rules.effective = ()
    assert not rules.at(11)


def test_a_port_in_use_is_told_with_what_else_to_do() -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(AddressError, match=f"127.0.0.1:{port}: .*; choose another --port, or 0 for a free one"):
            bind("127.0.0.1", port)


def test_an_address_of_another_machine_is_no_matter_of_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AddressError, match=r"192.0.2.1:0: .*; give --host an address of this machine"):
        bind("192.0.2.1", 0)  # RFC 5737: nobody's

    def unknown(*_: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket.socket, "bind", unknown)
    with pytest.raises(AddressError, match=r"nowhere:0: .*; give --host an address of this machine"):
        bind("nowhere", 0)
