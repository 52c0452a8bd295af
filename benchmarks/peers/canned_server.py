"""Answers every request with one of two files, as they are: the second where the request asks for gzip.

Prints its port. A server that costs next to nothing, so that clients can be held against each other.
"""

import asyncio
import sys
from pathlib import Path

import uvloop

_END = b"\r\n\r\n"


class Connection(asyncio.Protocol):
    plain, gzip = b"", b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self._request = transport, b""

    def data_received(self, data: bytes) -> None:
        self._request += data
        while (end := self._request.find(_END)) >= 0:
            head, self._request = self._request[:end].lower(), self._request[end + len(_END) :]
            self._transport.write(self.gzip if b"\naccept-encoding: gzip" in head else self.plain)  # type: ignore[attr-defined]


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    Connection.plain, Connection.gzip = (Path(name).read_bytes() for name in sys.argv[1:3])
    uvloop.run(main())
