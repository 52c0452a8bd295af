"""The servers that are measured, each a process of its own, on one core where the system can pin it."""

import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
START_DEADLINE_S = 30.0

_BARE = """
import socket, sys
import uvicorn
from fastapi import FastAPI, Response

app = FastAPI()
BODY = b"x" * int(sys.argv[1])


@app.get("/page")
async def page() -> Response:
    return Response(BODY, media_type="text/html")


listener = socket.create_server(("127.0.0.1", 0))
print(f"ready on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
config = uvicorn.Config(app, http="httptools", lifespan="off", log_level="error", access_log=False, server_header=False)
uvicorn.Server(config).run(sockets=[listener])
"""


@dataclass(frozen=True)
class Running:
    port: int
    pid: int


@contextlib.contextmanager
def mock(*, core: int | None = None) -> Iterator[Running]:
    with _running([sys.executable, "-m", "mockapi", "--port", "0"], core) as running:
        yield running


@contextlib.contextmanager
def bare_fastapi(body_bytes: int, *, core: int | None = None) -> Iterator[Running]:
    """FastAPI under uvicorn with a constant body, nothing else."""
    with _running([sys.executable, "-c", _BARE, str(body_bytes)], core) as running:
        yield running


@contextlib.contextmanager
def _running(command: list[str], core: int | None) -> Iterator[Running]:
    process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    try:
        if core is not None and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(process.pid, {core})
        assert process.stdout is not None
        readable, _, _ = select.select([process.stdout], [], [], START_DEADLINE_S)
        line = process.stdout.readline() if readable else ""
        if "ready on" not in line:
            raise RuntimeError(f"not ready: {' '.join(command[:4])}")
        yield Running(int(line.rsplit(":", 1)[1]), process.pid)
    finally:
        process.terminate()
        process.wait(timeout=START_DEADLINE_S)
        if process.stdout is not None:
            process.stdout.close()
