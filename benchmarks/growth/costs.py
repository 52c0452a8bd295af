"""The model's constants, measured: processor time by page size and event count, and what a batch costs besides.

    processor   pages of two sizes: what the steady part of a run uses for each event, and what larger pages add
    batch       batches of three sizes: their time is a fixed part and a part for each event

The same bench's other points are then forecast with them, so the model is never tried on what it was fitted to.
"""

import itertools
import json
import os
import statistics
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from benchmarks.engine.rounds import say
from benchmarks.engine.stack import BenchStack
from benchmarks.growth.points import LATENCY_S, Pages, Point, fill
from pipeline.capacity.costs import MIB, Costs

SOURCE = "growth.costs"
SMALL, LARGE = 4 * 1024, 50 * 1000
REQUESTS = 2
PARTITIONS = 4
IN_FLIGHT = 256
_WORKER, _JVM = "engine: Python workers", "engine: JVM"


def measure_costs(stack: BenchStack, directory: Path, *, events: int) -> Costs:
    """Runs of `events`; what the steady part of each used is counted."""
    slopes: dict[int, dict[str, float]] = {}
    for page_bytes in (SMALL, LARGE):
        workload = Pages(events, page_bytes=page_bytes)
        stack.set_pages(workload)
        fill(stack, SOURCE, workload, PARTITIONS)
        settings = {"fetch": {"concurrency": IN_FLIGHT}, "batch": {"max_offsets": 2000}}
        outcome = Point(f"costs-{page_bytes}", SOURCE, PARTITIONS, events, settings).measure(stack, directory)
        slopes[page_bytes] = {role: ms / 1000 for role, ms in outcome.steady_cpu_ms.items()}
        text = ", ".join(f"{role} {ms:.2f}" for role, ms in outcome.steady_cpu_ms.items())
        say(f"pages of {page_bytes} bytes: {outcome.steady:.0f}/s, processor ms an event: {text}")
    costs = _costs(slopes, batch_s=_batch_s(stack, directory, events))
    say("costs: " + ", ".join(f"{name}={value:.4g}" for name, value in asdict(costs).items()))
    return costs


def _costs(slopes: dict[int, dict[str, float]], *, batch_s: float) -> Costs:
    """A line through both sizes, for each role."""

    def line(*roles: str) -> tuple[float, float]:
        small, large = (sum(slopes[size].get(role, 0.0) for role in roles) for size in (SMALL, LARGE))
        per_mib = max(0.0, (large - small) / (REQUESTS * (LARGE - SMALL) / MIB))
        return max(0.0, small - per_mib * REQUESTS * SMALL / MIB), per_mib

    worker, jvm = line(_WORKER), line(_JVM, "engine: Python")
    elsewhere = line("broker", "mock")
    return Costs(
        worker_s=worker[0],
        worker_s_per_mib=worker[1],
        jvm_s=jvm[0],
        jvm_s_per_mib=jvm[1],
        elsewhere_s=elsewhere[0],
        elsewhere_s_per_mib=elsewhere[1],
        batch_s=batch_s,
    )


def _batch_s(stack: BenchStack, directory: Path, events: int) -> float:
    """What a batch takes besides its events and the latency of the last of them."""
    periods: dict[int, float] = {}
    for offsets in (events // 40, events // 16, events // 8):
        settings = {"fetch": {"concurrency": IN_FLIGHT}, "batch": {"max_offsets": offsets}}
        point = Point(f"batches-{offsets}", SOURCE, PARTITIONS, 8 * offsets, settings)
        point.measure(stack, directory)
        periods[offsets] = statistics.median(batch_periods(directory / point.name))
    say("a batch lasts " + ", ".join(f"{period:.3f} s with {n} events" for n, period in periods.items()))
    return max(0.0, statistics.linear_regression(list(periods), list(periods.values())).intercept - LATENCY_S)


def batch_periods(directory: Path) -> list[float]:
    """Seconds from one batch's start to the next's, but for the first two, which start the workers."""
    starts = [datetime.fromisoformat(line["at"]) for line in _log_lines(directory) if line["event"] == "batch_started"]
    return [(after - before).total_seconds() for before, after in itertools.pairwise(starts[2:])]


def _log_lines(directory: Path) -> Iterator[dict[str, str]]:
    for path in directory.glob("engine*"):
        if not path.is_file():
            continue
        for line in path.read_text(errors="replace").splitlines():
            if line.startswith('{"at"'):
                yield json.loads(line)


def cores() -> int:
    return os.cpu_count() or 1
