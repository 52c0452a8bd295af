"""What 1,000 open slow responses cost: memory, and the patience of everybody else. `just bench` runs it."""

import asyncio
import json
import statistics
import sys
import time
import urllib.request

import psutil
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.http_load import Ask, learn, load, request
from benchmarks.results import keep
from benchmarks.servers import mock

SLOW = 1_000
MEASURED_S = 4.0
OPEN_DEADLINE_S = 30.0
REFERENCE_BYTES = 200_000_000
SLOW_PATH = "/w/rest.php/v1/revision/28674/html"
OTHER_PATH = "/w/rest.php/v1/revision/28673/html"
WAYS = {
    "dribble": {"dribble": {"bytes": 100, "every": "1s"}},
    "bandwidth": {"bandwidth": 100},
    "latency": {"latency": "never"},
    "hang": {"hang": True},
}


def put_rule(port: int, do: dict[str, object]) -> None:
    rule = {"name": "slow", "when": {"revision": 28674}, "do": do}
    url = f"http://127.0.0.1:{port}/__mock/rules"
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps([rule]).encode(), headers, method="PUT")):
        pass


def in_flight(port: int) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/__mock/journal/in-flight") as answer:
        return len(json.load(answer))


def wait_until_open(port: int) -> None:
    deadline_s = time.monotonic() + OPEN_DEADLINE_S
    while in_flight(port) < SLOW:
        if time.monotonic() > deadline_s:
            raise TimeoutError(f"not {SLOW} open within {OPEN_DEADLINE_S} s")
        time.sleep(0.1)


async def latencies_ms(port: int, ask: Ask) -> list[float]:
    measured = await load(port, [ask], clients=1, seconds=MEASURED_S)
    return sorted(1_000 * latency for latency in measured.latencies_s)


class _Listener(asyncio.Protocol):
    """Takes what comes."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.write(request(SLOW_PATH))  # type: ignore[attr-defined]


async def measure(port: int, pid: int, do: dict[str, object]) -> dict[str, float]:
    process, loop = psutil.Process(pid), asyncio.get_running_loop()
    other = await learn(port, OTHER_PATH)
    before, rss_before = await latencies_ms(port, other), process.memory_info().rss
    await asyncio.to_thread(put_rule, port, do)
    open_ = [(await loop.create_connection(_Listener, "127.0.0.1", port))[0] for _ in range(SLOW)]
    await asyncio.to_thread(wait_until_open, port)
    meanwhile, rss_meanwhile = await latencies_ms(port, other), process.memory_info().rss
    still_open = await asyncio.to_thread(in_flight, port)
    if still_open < SLOW:
        raise RuntimeError(f"only {still_open} of {SLOW} were open to the end: the figures would be of something else")
    for transport in open_:
        transport.close()
    return {
        "open": still_open,
        "rss_growth_bytes": rss_meanwhile - rss_before,
        "p50_ms_before": statistics.median(before),
        "p50_ms_meanwhile": statistics.median(meanwhile),
        "p99_ms_before": before[int(0.99 * len(before))],
        "p99_ms_meanwhile": meanwhile[int(0.99 * len(meanwhile))],
    }


@pytest.mark.parametrize("way", WAYS)
def test_a_thousand_slow_responses(benchmark: BenchmarkFixture, way: str, capsys: pytest.CaptureFixture[str]) -> None:
    with mock() as server:
        figures = benchmark.pedantic(lambda: asyncio.run(measure(server.port, server.pid, WAYS[way])))
    keep(f"slow-responses-{way}", {"slow": SLOW, "reference_bytes": REFERENCE_BYTES, **figures})
    with capsys.disabled():
        sys.stdout.write(
            f"\n{way}: {figures['open']:.0f} open cost {figures['rss_growth_bytes'] / 1e6:.0f} MB (reference: below "
            f"{REFERENCE_BYTES / 1e6:.0f} MB); another request took {figures['p50_ms_before']:.2f} ms before and "
            f"{figures['p50_ms_meanwhile']:.2f} ms meanwhile (p99 {figures['p99_ms_before']:.2f} and "
            f"{figures['p99_ms_meanwhile']:.2f} ms)\n"
        )
