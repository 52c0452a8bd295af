"""The whole bench of memory: `python -m benchmarks.engine memory`, and its parts by name."""

import tempfile
from pathlib import Path
from typing import Any, get_args

import click
import orjson

from benchmarks.engine.stack import bench_stack
from benchmarks.memory.burst import Through, burst
from benchmarks.memory.steady import RATE, steady
from benchmarks.results import RESULTS, keep
from pipeline.config.pipeline_config import MIB

PARTS = ("burst", "steady")
REFERENCE = {
    "burst": "200 pages of 15 MiB at once under a 256 MiB bound: peaks are stated",
    "steady": "flat over 30 minutes: no growth of 1 % an hour or more can be seen",
}


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(PARTS))
@click.option("--fast", is_flag=True, help="Take fewer pages and minutes, to see that all of it works.")
@click.option("--pages", type=click.IntRange(1), help="Number of large pages at once. Default: 200.")
@click.option("--minutes", type=click.FloatRange(min=0.5), help="Minutes of mixed traffic. Default: 30.")
@click.option("--rate", default=RATE, show_default=True, help="Rate of mixed traffic in events a second.")
@click.option(
    "--through",
    type=click.Choice(get_args(Through)),
    multiple=True,
    help="Where large pages go; may be repeated. Default: claim.",
)
@click.option(
    "--name",
    default="memory",
    show_default=True,
    help="Name of the result, benchmarks/results/NAME.json; parts that are not run stay in it.",
)
def memory(
    parts: tuple[str, ...],
    pages: int | None,
    minutes: float | None,
    rate: float,
    through: tuple[Through, ...],
    name: str,
    *,
    fast: bool,
) -> None:
    """Measure resident memory. With many large pages at once, and whether it is flat under mixed traffic."""
    chosen = parts or PARTS
    directory = Path(tempfile.mkdtemp(prefix="memory-"))
    path = RESULTS / f"{name}.json"
    kept: dict[str, Any] = orjson.loads(path.read_bytes()) if path.exists() else {}
    figures: dict[str, Any] = {"reference": REFERENCE}
    with bench_stack(directory / "stack", store=True) as stack:
        if "burst" in chosen:
            figures["burst"] = {
                way: burst(stack, directory, pages=pages or (24 if fast else 200), page_bytes=15 * MIB, through=way)
                for way in through or ("claim",)
            }
        if "steady" in chosen:
            figures["steady"] = steady(stack, directory, minutes=minutes or (2 if fast else 30), rate=rate)
    keep(name, {part: kept[part] for part in PARTS if part in kept} | figures)
