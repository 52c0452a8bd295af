"""Time for an event while ten thousand, a hundred thousand and a million more stand in the source: it is to be flat."""

from pathlib import Path

from benchmarks.engine.stack import BenchStack
from benchmarks.growth.beside import Beside, by_size, say_size
from benchmarks.growth.costs import IN_FLIGHT, PARTITIONS, REQUESTS, SMALL, cores
from benchmarks.growth.points import LATENCY_S, Pages, Point, fill
from pipeline.capacity.costs import Costs
from pipeline.capacity.limits import forecast
from pipeline.capacity.load import Load

SOURCE = "growth.backlog"
BACKLOGS = (10_000, 100_000, 1_000_000)
OFFSETS = 2000


def backlog(
    stack: BenchStack, directory: Path, costs: Costs, *, events: int, backlogs: tuple[int, ...] = BACKLOGS
) -> dict[str, object]:
    """Over `events` events, start-up left out. The lag of all partitions is looked at meanwhile, as in production."""
    points: dict[int, Beside] = {}
    load = Load(LATENCY_S, REQUESTS, SMALL)
    for standing in backlogs:
        workload = Pages(standing + events, page_bytes=SMALL)
        stack.set_pages(workload)
        fill(stack, SOURCE, workload, PARTITIONS)
        settings = {
            "fetch": {"concurrency": IN_FLIGHT},
            "batch": {"max_offsets": OFFSETS},
            "metrics": {"port": 0},
        }
        point = Point(f"backlog-{standing}", SOURCE, PARTITIONS, events, settings)
        outcome = point.measure(stack, directory)
        points[standing] = Beside(outcome, forecast(point.config(), load, point.place(cores()), costs))
        say_size("backlog", standing, points[standing])
    return {**by_size("backlog", points), "reference": "flat"}
