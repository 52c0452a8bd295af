"""Time for an event while ten thousand, a hundred thousand and a million more stand in the source: it is to be flat."""

from pathlib import Path

from benchmarks.engine.rounds import say
from benchmarks.engine.stack import BenchStack
from benchmarks.growth.costs import IN_FLIGHT, PARTITIONS, REQUESTS, SMALL, cores
from benchmarks.growth.fit import error, exponent
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
    rows: list[dict[str, object]] = []
    ms: dict[int, float] = {}
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
        said = forecast(point.config(), load, point.place(cores()), costs)
        ms[standing] = 1000 / outcome.steady
        off = error(said.rate, outcome.steady)
        say(
            f"backlog {standing:9,}: {ms[standing]:.3f} ms an event, {outcome.steady:.0f}/s; "
            f"model {said.rate:.0f}/s ({off:+.0%})"
        )
        rows.append(
            {
                "backlog": standing,
                "ms_an_event": round(ms[standing], 4),
                "measured": round(outcome.steady, 1),
                "model": round(said.rate, 1),
                "model_error": round(off, 3),
                "others_cpu_s": round(outcome.usage.others_cpu_s, 1),
            }
        )
    growth = exponent(ms) if len(ms) > 1 else None
    if growth is not None:
        say(f"time an event grows with the backlog to the power of {growth:+.3f} (0 is flat)")
    return {"points": rows, "growth_exponent": None if growth is None else round(growth, 4), "reference": "flat"}
