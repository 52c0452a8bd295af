"""Events a second for 1, 2 and 4 partitions and 16 to 512 requests in flight, beside what the model says."""

import math
from pathlib import Path

from benchmarks.engine.rounds import say
from benchmarks.engine.stack import BenchStack
from benchmarks.growth.beside import Beside
from benchmarks.growth.costs import REQUESTS, cores
from benchmarks.growth.points import LATENCY_S, Pages, Point, fill
from pipeline.capacity.costs import Costs
from pipeline.capacity.limits import forecast
from pipeline.capacity.load import Load

PARTITIONS = (1, 2, 4)
IN_FLIGHT = (16, 32, 64, 128, 256, 512)
PAGE_BYTES = 20_000
OFFSETS = 1000
_BATCHES, _MOST_BATCHES = 4, 12


def grid(
    stack: BenchStack,
    directory: Path,
    costs: Costs,
    *,
    seconds: float,
    partitions: tuple[int, ...] = PARTITIONS,
    in_flight: tuple[int, ...] = IN_FLIGHT,
) -> list[dict[str, object]]:
    """Each point runs for about so many seconds of steady work."""
    rows: list[dict[str, object]] = []
    load = Load(LATENCY_S, REQUESTS, PAGE_BYTES)
    workload = Pages(_MOST_BATCHES * OFFSETS, page_bytes=PAGE_BYTES)
    stack.set_pages(workload)
    for count in partitions:
        source = f"growth.grid-{count}"
        fill(stack, source, workload, count)
        for requests in in_flight:
            settings = {"fetch": {"concurrency": requests}, "batch": {"max_offsets": OFFSETS}}
            asked = Point(f"grid-{count}-{requests}", source, count, 0, settings)
            expected = forecast(asked.config(), load, asked.place(cores()), costs)
            batches = min(max(math.ceil(expected.rate * seconds / OFFSETS), _BATCHES), _MOST_BATCHES)
            point = Point(asked.name, source, count, batches * OFFSETS, settings)
            beside = Beside(point.measure(stack, directory), expected)
            say(f"{count} partitions, {requests:3d} in flight: {beside.in_words()}, {expected.binding.name} binds")
            rows.append(
                {
                    "partitions": count,
                    "in_flight": requests,
                    "events": point.events,
                    "binding": expected.binding.name,
                    **beside.row(),
                }
            )
    return rows
