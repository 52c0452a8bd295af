"""A real triple store for tests: the server of Oxigraph, on a free port."""

import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import urllib3

BINARY = Path(sys.executable).parent / "oxigraph"
_DEADLINE_S = 180.0


@dataclass
class OxigraphServer:
    """Its triples are on disk, so it may be ended and started again."""

    directory: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def update_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/update"

    def command(self) -> Sequence[str | Path]:
        return [BINARY, "serve", "--location", self.directory / "data", "--bind", f"127.0.0.1:{self.port}"]

    def start(self) -> None:
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(self.command(), cwd=self.directory, stdout=log, stderr=log)
        until = time.monotonic() + _DEADLINE_S
        while not self._answers():
            assert self.process.poll() is None, (self.directory / "log").read_text()
            assert time.monotonic() < until, "no answer"

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _answers(self) -> bool:
        try:
            urllib3.request("GET", f"http://127.0.0.1:{self.port}/", retries=False, timeout=1)
        except urllib3.exceptions.HTTPError:
            return False
        return True


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
        return port
