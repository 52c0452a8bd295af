"""A backlog of events with two pages each, processed as fast as it goes.

The engine beside (a) a bare client that only fetches, and (b) a hand-written asyncio program that does the same work.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.engine.bare import bare_outcome
from benchmarks.engine.contestant import Contestant
from benchmarks.engine.race import Outcome, run
from benchmarks.engine.rounds import in_turns, medians, say, share
from benchmarks.engine.stack import bench_stack
from benchmarks.engine.versions import PACKAGES
from benchmarks.engine.workload import PAGE_BYTES, PARTITIONS, Workload
from benchmarks.results import keep

SOURCE = "bench.source"
BARE = ("bare aiohttp", "bare fastest")
REFERENCE = {
    "engine of asyncio": "1.00 or more, on 2 cores (events/s)",
    "engine of bare aiohttp": "stated; a plain prototype had 0.51-0.61 (590 of 1,157 and 496 of 812 events/s)",
}


def backfill(
    contestants: Sequence[Contestant],
    workload: Workload,
    *,
    rounds: int,
    directory: Path,
    bare: Sequence[str] = BARE,
    profile: bool = False,
    name: str = "backfill",
    reference: Mapping[str, str] = REFERENCE,
) -> dict[str, object]:
    """Figures of all rounds; kept as `name` in the results."""
    outcomes = play_rounds(contestants, workload, rounds=rounds, directory=directory, bare=bare, profile=profile)
    figures = {"reference": dict(reference), **_figures(outcomes, workload, contestants)}
    keep(name, figures, packages=PACKAGES)
    return figures


def play_rounds(
    contestants: Sequence[Contestant],
    workload: Workload,
    *,
    rounds: int,
    directory: Path,
    bare: Sequence[str] = (),
    profile: bool = False,
) -> dict[str, list[Outcome]]:
    """By contestant, of each round."""
    for contestant in contestants:
        contestant.prepare()
    by_name = {contestant.name: contestant for contestant in contestants}
    with bench_stack(directory / "stack") as stack:
        stack.set_pages(workload)
        stack.make_source(SOURCE)
        stack.fill(SOURCE, workload.events())
        say(
            f"{workload.count} events in {PARTITIONS} partitions, 2 pages of {PAGE_BYTES} bytes at {workload.latency}, "
            f"{workload.coding}"
        )

        def one(which: str, number: int) -> Outcome:
            place = directory / f"{which.replace(' ', '-')}-{number}"
            if which not in by_name:
                return bare_outcome(which, stack, workload, place)
            outcome = run(by_name[which], stack, SOURCE, workload.count, directory=place, profile=profile)
            shutil.rmtree(place / "checkpoint", ignore_errors=True)
            return outcome

        return in_turns([*bare, *by_name], rounds, one)


def _figures(
    outcomes: dict[str, list[Outcome]], workload: Workload, contestants: Sequence[Contestant]
) -> dict[str, object]:
    shares = {
        f"engine of {other}": {measure: share(outcomes, "engine", other, measure) for measure in ("steady", "whole")}
        for other in outcomes
        if "engine" in outcomes and other != "engine"
    }
    for pair, measures in shares.items():
        say(f"{pair}: " + ", ".join(f"{measure} {figure}" for measure, figure in measures.items()))
    samples = {outcome.sample for runs in outcomes.values() for outcome in runs if outcome.sample}
    say("all contestants' outputs are the same bytes" if len(samples) <= 1 else "OUTPUTS DIFFER between contestants")
    return {
        "work": {
            "events": workload.count,
            "pages": len(workload.revisions),
            "page_bytes": PAGE_BYTES,
            "latency": workload.latency,
            "coding": workload.coding,
            "partitions": PARTITIONS,
        },
        "shares": shares,
        "medians": medians(outcomes),
        "outputs_equal": len(samples) <= 1,
        "settings": {contestant.name: contestant.settings for contestant in contestants},
        "rounds": {name: [outcome.figures() for outcome in runs] for name, runs in outcomes.items()},
    }
