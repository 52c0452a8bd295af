"""One page in a hundred takes 40 s. What becomes of the others: their rate from a backlog, their latency.

Rate and latency of the healthy events only, with the slow pages and without, in turns.
"""

import shutil
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.engine.contestant import Contestant
from benchmarks.engine.paced import Latencies, paced
from benchmarks.engine.race import Outcome, run
from benchmarks.engine.rounds import in_turns, medians, say
from benchmarks.engine.stack import BenchStack, bench_stack
from benchmarks.engine.versions import PACKAGES
from benchmarks.engine.workload import Workload
from benchmarks.results import keep

SETTINGS = Path(__file__).with_name("slow-pages.yaml")
SOURCE = "bench.source"
SHARE = 0.01
SLOW = "40s"
WITH, WITHOUT = "with slow pages", "without"
REFERENCE = {
    "rate with slow pages of rate without": "0.90 or more",
    "p99 with slow pages of p99 without": "1.5 or less",
}


def slow_pages(
    contestants: Sequence[Contestant],
    workload: Workload,
    *,
    rounds: int,
    directory: Path,
    per_second: float = 50.0,
    seconds: float = 60.0,
    name: str = "slow-pages",
) -> dict[str, object]:
    """A backlog of the workload, and `seconds` of traffic at a pace; kept as `name` in the results."""
    for contestant in contestants:
        contestant.prepare()
    slow = workload.slow_pages(SHARE)
    traffic = Workload(round(per_second * seconds), coding=workload.coding, latency=workload.latency)
    with bench_stack(directory / "stack") as stack:
        stack.set_pages(workload)
        stack.make_source(SOURCE)
        stack.fill(SOURCE, workload.events())
        figures: dict[str, object] = {}
        for contestant in contestants:
            rates = _rates(contestant, stack, workload, slow, rounds, directory)
            latencies = _latencies(contestant, stack, traffic, slow, rounds, directory, per_second)
            figures[contestant.name] = {"settings": contestant.settings} | _compared(rates, latencies)
            say(f"{contestant.name}: {figures[contestant.name]['ratios']}")  # type: ignore[index]
    kept: dict[str, object] = {
        "work": {"events": workload.count, "slow_pages": len(slow), "slow_latency": SLOW, "pace": per_second},
        "reference": REFERENCE,
        "contestants": figures,
    }
    keep(name, kept, packages=PACKAGES)
    return kept


def _rates(
    contestant: Contestant, stack: BenchStack, workload: Workload, slow: frozenset[int], rounds: int, directory: Path
) -> dict[str, list[Outcome]]:
    keys = frozenset(workload.event(page).key for page in slow)
    healthy = sum(event.page not in slow for event in workload.events())

    def one(which: str, number: int) -> Outcome:
        stack.set_rules(workload.rules(slow=slow if which == WITH else frozenset(), slow_latency=SLOW))
        place = directory / f"{contestant.name.replace(' ', '-')}-rate-{which.replace(' ', '-')}-{number}"
        try:
            outcome = run(contestant, stack, SOURCE, healthy, directory=place, left_out=keys)
            return replace(outcome, contestant=f"{contestant.name}, {which}")
        finally:
            shutil.rmtree(place / "checkpoint", ignore_errors=True)

    return in_turns([WITHOUT, WITH], rounds, one)


def _latencies(
    contestant: Contestant,
    stack: BenchStack,
    traffic: Workload,
    slow: frozenset[int],
    rounds: int,
    directory: Path,
    per_second: float,
) -> dict[str, list[Latencies]]:
    found: dict[str, list[Latencies]] = {WITHOUT: [], WITH: []}
    for number in range(rounds):
        for which, latencies in found.items():
            stack.set_rules(traffic.rules(slow=slow if which == WITH else frozenset(), slow_latency=SLOW))
            place = directory / f"{contestant.name.replace(' ', '-')}-paced-{which.replace(' ', '-')}-{number}"
            took = paced(contestant, stack, traffic, per_second=per_second, directory=place, slow=slow)
            latencies.append(took)
            say(f"round {number + 1} {contestant.name}, {which}: {took}")
    return found


def _compared(rates: dict[str, list[Outcome]], latencies: dict[str, list[Latencies]]) -> dict[str, object]:
    def rate(measure: str) -> float:
        pairs = zip(rates[WITH], rates[WITHOUT], strict=True)
        return round(statistics.median(getattr(one, measure) / getattr(other, measure) for one, other in pairs), 3)

    pairs = zip(latencies[WITH], latencies[WITHOUT], strict=True)
    return {
        "ratios": {
            "steady rate": rate("steady"),
            "rate from first output to last": rate("appending"),
            "p99": round(statistics.median(one.p99 / other.p99 for one, other in pairs), 3),
        },
        "rates": medians(rates),
        "latencies": {which: [took.figures() for took in runs] for which, runs in latencies.items()},
        "rounds": {which: [outcome.figures() for outcome in runs] for which, runs in rates.items()},
    }
