"""200 pages of 15 MiB at once, under a bound of 256 MiB in flight: how much memory that takes at most.

By default as a real run does it: a sink that takes records of a mebibyte, so every page goes to the object store by
claim check. `through kafka` is the incident's setting, a sink of 20 MiB and pages that fit: records of 15 MiB.
"""

from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from benchmarks.engine.race import run
from benchmarks.engine.rounds import say
from benchmarks.engine.spark_engine import read_settings
from benchmarks.engine.stack import BenchStack
from benchmarks.growth.points import fill
from benchmarks.memory.watch import MemoryWatch
from benchmarks.memory.work import MIB, LargePages, Watched, populate

SOURCE = "memory.burst"
PARTITIONS = 4
BOUND = 256 * MIB
_DEADLINE = timedelta(hours=1)
Through = Literal["claim", "kafka"]

_SETTINGS: dict[Through, dict[str, Any]] = {
    "claim": {},
    "kafka": {"sink": {"max.request.size": 20 * MIB}},
}


def burst(stack: BenchStack, directory: Path, *, pages: int, page_bytes: int, through: Through) -> dict[str, object]:
    """Peaks in MiB by role, from the start of the job until the last page has left."""
    workload = LargePages(pages, page_bytes=page_bytes)
    populate(stack, workload)
    fill(stack, SOURCE, workload, PARTITIONS)
    settings = {"fetch": {"max_in_flight_bytes": BOUND, "concurrency": 256}, **_SETTINGS[through]}
    with ExitStack() as watches:
        begun: list[MemoryWatch] = []
        engine = Watched(
            read_settings(),
            overrides=settings,
            begun=lambda pid: begun.append(watches.enter_context(MemoryWatch([pid], name="engine", interval_s=0.1))),
        )
        outcome = run(engine, stack, SOURCE, pages, directory=directory / f"burst-{through}", deadline=_DEADLINE)
    peaks = begun[0].peaks()
    say(
        f"{pages} pages of {page_bytes / MIB:.3g} MiB, {BOUND // MIB} MiB in flight, by {through}: {outcome.outputs} "
        f"outputs, {outcome.errors} errors in {pages / outcome.whole:.0f} s"
    )
    for role, peak in sorted(peaks.items()):
        say(
            f"  {role:<24} at most {peak['rss']:6,} MiB resident, {peak['pss']:6,} MiB shared out; "
            f"the largest process {peak['largest_process_rss']:6,} MiB"
        )
    return {
        "pages": pages,
        "page_bytes": page_bytes,
        "in_flight_bound_mib": BOUND // MIB,
        "through": through,
        "outputs": outcome.outputs,
        "errors": outcome.errors,
        "seconds": round(pages / outcome.whole, 1),
        "peak_mib": peaks,
    }
