"""A socket in front of the engine's, which a test can close: to whoever talks through it, the engine has died.

`python engine_proxy.py SOCKET ENGINE` is a process of its own, so that its end breaks every connection at once.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit


class EngineProxy:
    """Serves `address` as long as it is open; `close` breaks every connection, `open` begins anew at the same place."""

    def __init__(self, socket_file: Path) -> None:
        self._file = socket_file
        self._engine = urlsplit(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")).path
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"unix://{self._file}"

    def open(self) -> None:
        from devkit.waiting import wait_until

        self._process = subprocess.Popen([sys.executable, __file__, str(self._file), self._engine])
        wait_until(self._file.exists, what="the proxy to listen", deadline=timedelta(seconds=20))

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        self._file.unlink(missing_ok=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


async def _serve(socket_file: str, engine: str) -> None:
    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, ours = await asyncio.open_unix_connection(engine)
        await asyncio.gather(_copy(reader, ours), _copy(theirs, writer))
        for one in (writer, ours):
            one.close()

    server = await asyncio.start_unix_server(connection, socket_file)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(*sys.argv[1:]))
