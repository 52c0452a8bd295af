"""The whole bench of growth: `python -m benchmarks.engine growth`, and its parts by name."""

import os
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
import orjson

from benchmarks.engine.rounds import say
from benchmarks.engine.stack import bench_stack
from benchmarks.growth import backlog as backlog_bench
from benchmarks.growth import grid as grid_bench
from benchmarks.growth import ledger as ledger_bench
from benchmarks.growth.costs import measure_costs
from benchmarks.results import RESULTS, keep
from pipeline.capacity.costs import Costs

PARTS = ("costs", "grid", "backlog", "ledger")
REFERENCE = {
    "backlog": "flat: time for an event does not grow from 10^4 to 10^6 events",
    "ledger": "no step grows faster than the number of deferred events (exponent 1)",
    "model": "its error is printed at each point",
}


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(PARTS))
@click.option("--fast", is_flag=True, help="Take few and short points, to see that all of it works.")
@click.option(
    "--name",
    default="growth",
    show_default=True,
    help="Name of the result, benchmarks/results/NAME.json; parts that are not run stay in it.",
)
def growth(parts: tuple[str, ...], name: str, *, fast: bool) -> None:
    """Measure what grows with what. Rate by partitions and requests in flight, time by backlog and ledger; the
    model's error.
    """
    chosen = parts or PARTS
    kept = _kept(name)
    directory = Path(tempfile.mkdtemp(prefix="growth-"))
    figures: dict[str, Any] = {"reference": REFERENCE, "fast": fast}
    sizes = (10, 1_000, 100_000) if fast else ledger_bench.SIZES
    if "ledger" in chosen:
        figures["ledger"] = {"pure": ledger_bench.pure()}
    with bench_stack(directory / "stack") as stack:
        costs = _known_costs(kept)
        if "costs" in chosen:
            costs = measure_costs(stack, directory, events=4_000 if fast else 16_000)
            figures["costs"] = asdict(costs)
        if "grid" in chosen:
            some: dict[str, Any] = {"partitions": (1, 4), "in_flight": (32, 256)} if fast else {}
            figures["grid"] = grid_bench.grid(stack, directory, costs, seconds=4 if fast else 12, **some)
        if "backlog" in chosen:
            backlogs = (10_000, 100_000) if fast else backlog_bench.BACKLOGS
            events = 6_000 if fast else 12_000
            figures["backlog"] = backlog_bench.backlog(stack, directory, costs, events=events, backlogs=backlogs)
        if "ledger" in chosen:
            figures["ledger"]["topic"] = ledger_bench.on_topic(stack, sizes)
            figures["ledger"]["engine"] = ledger_bench.with_engine(
                stack, directory, costs, events=4_000 if fast else 12_000, sizes=sizes
            )
    say(f"load of the machine at the end {os.getloadavg()[0]:.1f}")
    keep(name, {part: kept[part] for part in PARTS if part in kept} | figures)


def _kept(name: str) -> dict[str, Any]:
    path = RESULTS / f"{name}.json"
    return orjson.loads(path.read_bytes()) if path.exists() else {}


def _known_costs(kept: dict[str, Any]) -> Costs:
    """Those of the last run, else those that the pipeline reckons with."""
    return replace(Costs(), **kept.get("costs", {}))
