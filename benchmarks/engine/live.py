"""Live traffic: how long after its append to the source an event's output is appended.

With a checkpoint on a local disk, and with one in an S3 store: MinIO where its binary is on PATH, else moto.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from benchmarks.engine.contestant import Contestant
from benchmarks.engine.paced import Latencies, paced
from benchmarks.engine.rounds import say
from benchmarks.engine.stack import bench_stack
from benchmarks.engine.versions import PACKAGES
from benchmarks.engine.workload import Workload
from benchmarks.results import keep

PER_SECOND = 20.0
REFERENCE = {"engine": "p50 under 0.5 s, p99 under 1.5 s", "engine s3a": "p50 under 0.8 s"}


def live(
    contestants: Sequence[Contestant], *, rounds: int, seconds: float, directory: Path, name: str = "live"
) -> dict[str, object]:
    """So many seconds of traffic for each in turn; kept as `name` in the results."""
    for contestant in contestants:
        contestant.prepare()
    workload = Workload(round(PER_SECOND * seconds))
    found: dict[str, list[Latencies]] = {contestant.name: [] for contestant in contestants}
    with bench_stack(directory / "stack", store=True) as stack:
        assert stack.store
        stack.set_pages(workload)
        for number in range(rounds):
            for contestant in contestants:
                place = directory / f"{contestant.name.replace(' ', '-')}-{number}"
                took = paced(contestant, stack, workload, per_second=PER_SECOND, directory=place)
                shutil.rmtree(place / "checkpoint", ignore_errors=True)
                found[contestant.name].append(took)
                say(f"round {number + 1} {contestant.name}: {took}")
        kind = stack.store.kind
    kept: dict[str, object] = {
        "work": {"events_a_second": PER_SECOND, "seconds": seconds, "latency": workload.latency},
        "store": kind,
        "reference": REFERENCE,
        "settings": {contestant.name: contestant.settings for contestant in contestants},
        "rounds": {name: [took.figures() for took in runs] for name, runs in found.items()},
    }
    keep(name, kept, packages=PACKAGES)
    return kept
