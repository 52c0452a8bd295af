"""How many pages of about 50 KB the mock serves a second on one core, beside what FastAPI makes of a constant body.

Both servers are up at the same time and are asked in turns, so that what else the machine does meets both. On a busy
machine neither gets a whole core; so pages are also counted by the second of processor time that the server took for
them, which is what a core of its own would give. Nothing here fails on a figure. `just bench mock-throughput` runs it.

A second benchmark has the processor time of a JSON envelope beside that of an HTML page, of the same revisions.
"""

import asyncio
import http.client
import json
import os
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from urllib.parse import quote

import psutil
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.http_load import Ask, learn, load
from benchmarks.results import keep
from benchmarks.servers import Running, bare_fastapi, mock

PAGE_BYTES = 50_000
NEAR_BYTES = 2_500
PAGES = 20
CLIENTS = 16
TURNS = 7
TURN_S = 2.0
REFERENCE = 0.80
ENVELOPE_ROUNDS = 7
ENVELOPE_TURN_S = 1.0
ENVELOPE_REFERENCE = 1.5
HTML = "html page"


def paths_of_pages(port: int) -> list[str]:
    """Pages of the default catalog whose length is near PAGE_BYTES."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    found: list[str] = []
    for page_id in range(1, 1_001):
        path = f"/w/rest.php/v1/revision/{page_id * 4096 + 1}/html"
        connection.request("HEAD", path)
        response = connection.getresponse()
        response.read()
        if abs(int(response.headers.get("content-length", "0")) - PAGE_BYTES) <= NEAR_BYTES:
            found.append(path)
        if len(found) == PAGES:
            break
    connection.close()
    return found


@dataclass(frozen=True)
class Turn:
    per_second: float
    per_cpu_second: float


@dataclass(frozen=True)
class Ratio:
    """Medians over the turns."""

    by_processor: float
    by_clock: float


def ratios_to(reference: Sequence[Turn], turns: Sequence[Turn]) -> Ratio:
    """Of turns that followed each other."""
    pairs = list(zip(turns, reference, strict=True))
    return Ratio(
        statistics.median(one.per_cpu_second / other.per_cpu_second for one, other in pairs),
        statistics.median(one.per_second / other.per_second for one, other in pairs),
    )


async def one_turn(server: Running, asks: Sequence[Ask], seconds: float = TURN_S) -> Turn:
    process = psutil.Process(server.pid)
    before = process.cpu_times()
    served = await load(server.port, asks, clients=CLIENTS, seconds=seconds)
    after = process.cpu_times()
    busy_s = after.user + after.system - before.user - before.system
    return Turn(served.per_second, served.answers / busy_s)


def test_pages_a_second_on_one_core(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    core, others = 0, set(range(1, os.cpu_count() or 1))
    if others and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, others)
    with mock(core=core) as ours, bare_fastapi(PAGE_BYTES, core=core) as bare:

        async def turns() -> tuple[dict[str, list[Turn]], float]:
            pages = [await learn(ours.port, path) for path in paths_of_pages(ours.port)]
            contest = {
                "mock, many pages": (ours, pages),
                "mock, one page": (ours, pages[:1]),
                "bare FastAPI": (bare, [await learn(bare.port, "/page")]),
            }
            served: dict[str, list[Turn]] = {name: [] for name in contest}
            for number in range(TURNS + 1):
                for name, (server, asks) in contest.items():
                    turn = await one_turn(server, asks)
                    if number:  # the first one warms up
                        served[name].append(turn)
            return served, statistics.mean(ask.answer_bytes for ask in pages)

        served, mean_bytes = benchmark.pedantic(lambda: asyncio.run(turns()))
    ratios = {
        name: ratios_to(served["bare FastAPI"], turns) for name, turns in served.items() if name != "bare FastAPI"
    }
    keep(
        "mock-throughput",
        {
            "served": {name: [asdict(turn) for turn in turns] for name, turns in served.items()},
            "ratios": {name: asdict(ratio) for name, ratio in ratios.items()},
            "answer_bytes_mean": mean_bytes,
            "reference": REFERENCE,
            "clients": CLIENTS,
            "load_average": os.getloadavg()[0],
        },
    )
    with capsys.disabled():
        for name, turns_served in served.items():
            rate = statistics.median(turn.per_cpu_second for turn in turns_served)
            sys.stdout.write(f"\n{name}: {rate:.0f} answers in a second of a core")
        for name, ratio in ratios.items():
            sys.stdout.write(
                f"\n{name}: {ratio.by_processor:.2f} of bare FastAPI by processor time, {ratio.by_clock:.2f} by clock "
                f"(reference: at least {REFERENCE:.2f})"
            )
        sys.stdout.write("\n")


def envelope_paths(port: int) -> dict[str, list[str]]:
    """By kind: HTML and envelopes of the revisions that `paths_of_pages` gives."""
    html = paths_of_pages(port)
    revisions = [path.split("/")[-2] for path in html]
    titles = [quote(read_key(port, revision), safe="") for revision in revisions]
    query = "/w/api.php?action=query&format=json&formatversion=2"
    return {
        HTML: html,
        "revision/bare": [f"/w/rest.php/v1/revision/{revision}/bare" for revision in revisions],
        "revision": [f"/w/rest.php/v1/revision/{revision}" for revision in revisions],
        "revision/with_html": [f"/w/rest.php/v1/revision/{revision}/with_html" for revision in revisions],
        "page/bare": [f"/w/rest.php/v1/page/{title}/bare" for title in titles],
        "page": [f"/w/rest.php/v1/page/{title}" for title in titles],
        "query titles": [f"{query}&titles={title}" for title in titles],
        "query info": [f"{query}&prop=info&titles={title}" for title in titles],
        "query revisions": [f"{query}&prop=revisions&revids={revision}" for revision in revisions],
        "query content": [
            f"{query}&prop=revisions&rvslots=main&rvprop=ids|content&revids={revision}" for revision in revisions
        ],
    }


def read_key(port: int, revision: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", f"/w/rest.php/v1/revision/{revision}/bare")
    key = json.loads(connection.getresponse().read())["page"]["key"]
    connection.close()
    return str(key)


def test_envelopes_beside_an_html_page(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    with mock() as server:

        async def turns() -> dict[str, float]:
            paths = envelope_paths(server.port)
            asks = {kind: [await learn(server.port, path) for path in paths[kind]] for kind in paths}
            lowest_us = dict.fromkeys(asks, float("inf"))
            for _ in range(ENVELOPE_ROUNDS):
                for kind in asks:
                    turn = await one_turn(server, asks[kind], ENVELOPE_TURN_S)
                    lowest_us[kind] = min(lowest_us[kind], 1e6 / turn.per_cpu_second)
            return lowest_us

        cpu_us = benchmark.pedantic(lambda: asyncio.run(turns()))
    ratios = {kind: us / cpu_us[HTML] for kind, us in cpu_us.items()}
    keep(
        "mock-envelopes",
        {"cpu_us": cpu_us, "ratios": ratios, "reference": ENVELOPE_REFERENCE, "load_average": os.getloadavg()[0]},
    )
    with capsys.disabled():
        sys.stdout.write(f"\nprocessor time of a request (reference: at most {ENVELOPE_REFERENCE} of an {HTML})")
        for kind, us in cpu_us.items():
            sys.stdout.write(f"\n{kind:20}{us:8.0f} us{ratios[kind]:8.2f}")
        sys.stdout.write("\n")
