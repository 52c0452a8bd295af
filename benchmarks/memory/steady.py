"""Mixed traffic for half an hour: whether memory is flat once the job is warm."""

from pathlib import Path
from statistics import mean

from benchmarks.engine.contestant import Place
from benchmarks.engine.rounds import say
from benchmarks.engine.spark_engine import Engine, read_settings
from benchmarks.engine.stack import BenchStack
from benchmarks.memory.flat import slope
from benchmarks.memory.live_heap import JVM_OPTION, LiveHeap
from benchmarks.memory.watch import MIB, MemoryWatch, Sample
from benchmarks.memory.work import MIX, MixedPages, populate
from devkit.stack.parts.part_life import require_running

SOURCE = "memory.steady"
RATE = 20.0
WARM_UP = 0.25
# Shares of the time at which the JVM is asked what it keeps.
LOOKS = (0.25, 0.5, 0.75, 0.98)
# As `pipeline memory` gives it for 4 GiB and the benches' slots. Theirs of 2 GiB is touched for the first time, bit by
# bit, during the whole of half an hour, which looks like a leak and is none.
HEAP = "768m"


def steady(stack: BenchStack, directory: Path, *, minutes: float, rate: float = RATE) -> dict[str, object]:
    """Slopes by role in MiB an hour, with a 95 % interval, after the first quarter of the time."""
    seconds = minutes * 60
    workload = MixedPages(round(seconds * rate))
    populate(stack, workload)
    stack.make_source(SOURCE)
    settings = {"metrics": {"port": 0}, "deferral": {"slow_lane": {"backoff": "2s", "attempts": 3}}}
    place_directory = directory / "steady"
    place_directory.mkdir(parents=True, exist_ok=True)
    with stack.topics(SOURCE) as topics:
        out, errors = stack.log(topics.out), stack.log(topics.errors)
        read = read_settings()
        engine = Engine(
            read | {"spark": read["spark"] | {"driver_memory": HEAP}},
            overrides=settings,
            environment={"JAVA_TOOL_OPTIONS": JVM_OPTION},
        )
        (process,) = engine.start(Place(stack, topics, workload.count, place_directory))
        try:
            with (
                MemoryWatch([process.pid], name="engine", interval_s=min(2.0, seconds / 200)) as watch,
                LiveHeap(process.pid, process.stdout, [seconds * share for share in LOOKS]) as live,
            ):
                stack.fill(SOURCE, workload.events(), per_second=rate)
            require_running(process)
        finally:
            process.kill_tree()
        counts = {"events": workload.count, "outputs": out.look(), "errors": errors.look()}
    say(f"{minutes:g} minutes of {rate:g} events/s: {counts}")
    looks = ", ".join(f"{mib:g} MiB after {minute:g} min" for minute, mib in live.mib())
    say(f"  the JVM keeps, by its own count after a full collection: {looks}")
    rows: dict[str, object] = {}
    for role in watch.roles():
        samples = [sample for sample in watch.samples if sample.role == role and sample.kind == "rss"]
        line = slope(
            [sample.at_s for sample in samples],
            [sample.total / MIB for sample in samples],
            warm_up_s=seconds * WARM_UP,
        )
        if line is None:
            continue
        of_run = line.slope * minutes / 60
        say(
            f"  {role:<24} {line.level:7.0f} MiB, {line.slope:+8.1f} ± {line.half_width:.1f} MiB an hour "
            f"({of_run:+.1f} MiB in {minutes:g} minutes): {'flat' if line.is_flat else 'grows'}"
        )
        rows[role] = {
            "mean_mib": round(line.level, 1),
            "mib_an_hour": round(line.slope, 2),
            "half_width_95": round(line.half_width, 2),
            "flat": line.is_flat,
            "mib_by_minute": _by_minute(samples),
        }
    return {
        "minutes": minutes,
        "rate": rate,
        "mix_percent": {kind: share for kind, (share, _) in MIX.items()},
        "warm_up_share": WARM_UP,
        "heap": HEAP,
        **counts,
        "jvm_live_mib": live.mib(),
        "roles": rows,
        "peak_mib": watch.peaks(),
    }


def _by_minute(samples: list[Sample]) -> list[int]:
    """Means, in MiB."""
    minutes: dict[int, list[int]] = {}
    for sample in samples:
        minutes.setdefault(int(sample.at_s // 60), []).append(sample.total)
    return [round(mean(totals) / MIB) for _, totals in sorted(minutes.items())]
