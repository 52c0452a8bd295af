"""Which HTTP client and which gzip decoder cost least: processor time of each for a page of the benchmarks' size.

`just bench -k test_clients` runs it. The page is the mock's, with its headers; it is served by a program that does
nothing else. Each client has a process of its own, with memory kept as the peers' is, and without.
"""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.engine.peer_environment import KEEP_MEMORY, PEERS, peer_python
from benchmarks.engine.workload import DOMAIN, SEED, Workload
from benchmarks.peers.client_names import CLIENTS
from benchmarks.results import keep
from devkit.guardian import Guardian
from devkit.stack.parts.mock_api import start_mock_api

CODINGS = ("gzip", "identity")
_DEADLINE_S = 120


def answers(directory: Path) -> dict[str, Path]:
    """By coding: a file with the mock's answer, head and body."""
    workload, files = Workload(1, pages=1), {}
    with Guardian() as guardian:
        mock, part = start_mock_api(guardian, directory)
        part.await_ready()
        mock.populate(seed=SEED, catalog=workload.catalog(), rules=[])
        host, _, port = mock.endpoint.removeprefix("http://").partition(":")
        for coding in CODINGS:
            head = f"GET /w/rest.php/v1/revision/{workload.revisions[0][0]}/html HTTP/1.1\r\nHost: {DOMAIN}\r\n"
            with socket.create_connection((host, int(port)), timeout=_DEADLINE_S) as connection:
                connection.sendall(f"{head}Accept-Encoding: {coding}\r\nConnection: close\r\n\r\n".encode())
                answer = b"".join(iter(lambda: connection.recv(1 << 20), b""))
            files[coding] = directory / f"{coding}.http"
            files[coding].write_bytes(answer.replace(b"connection: close\r\n", b"connection: keep-alive\r\n", 1))
    return files


def ran(program: str, *arguments: str, kept: bool = True) -> dict[str, object]:
    environment = os.environ | {"PYTHONPATH": str(PEERS)} | (KEEP_MEMORY if kept else {})
    command = [str(peer_python("clients")), str(PEERS / program), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_DEADLINE_S, check=False)
    if done.returncode:
        raise RuntimeError(f"{program} {arguments}: {done.stderr[-500:]}")
    figures: dict[str, object] = json.loads(done.stdout)
    return figures


def measured(directory: Path) -> dict[str, object]:
    files = answers(directory)
    page = directory / "page.gz"
    page.write_bytes(files["gzip"].read_bytes().partition(b"\r\n\r\n")[2])
    server = [str(peer_python("clients")), str(PEERS / "canned_server.py"), str(files["identity"]), str(files["gzip"])]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True, env=os.environ | KEEP_MEMORY) as serving:
        try:
            assert serving.stdout
            endpoint = f"http://127.0.0.1:{serving.stdout.readline().strip()}"
            clients = {
                client: {
                    f"{coding}, {how}": ran("client_program.py", client, endpoint, coding, kept=how == "memory kept")
                    for coding in CODINGS
                    for how in ("memory kept", "as it is")
                }
                for client in CLIENTS
            }
        finally:
            serving.kill()
    same = {figures["sha256"] for row in clients.values() for figures in row.values()}
    assert len(same) == 1, "clients gave different pages"
    return {"clients": clients, "gunzip_us": ran("gunzip_program.py", str(page))}


def test_clients(benchmark: BenchmarkFixture, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = benchmark.pedantic(lambda: measured(tmp_path))
    keep("clients", figures)
    clients: dict[str, dict[str, dict[str, object]]] = figures["clients"]
    with capsys.disabled():
        columns = next(iter(clients.values()))
        sys.stdout.write(f"\nCPU us an answer{'':4}" + "".join(f"{column:>24}" for column in columns))
        for client, row in clients.items():
            sys.stdout.write(f"\n{client:20}" + "".join(f"{row[column]['cpu_us']:>24}" for column in columns))
        sys.stdout.write(f"\ngunzip: {figures['gunzip_us']}\n")
