"""The ledger with 10 to 100,000 deferred events: what a batch, a look for work, a round and a start cost.

    pure    plan and settle a batch, its fence on the way to a task, a look without work, a slow round; processor time
    topic   the start of a driver (everything read and folded), a batch's read and tombstones, on the real broker
    engine  events a second with so many events standing

Both shapes are there: each event of a page of its own, and all events of four pages. What is asked again and again is
measured again and again (the least of several); what happens once, once.
"""

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

from benchmarks.engine.contestant import Place
from benchmarks.engine.rounds import say
from benchmarks.engine.spark_engine import Engine
from benchmarks.engine.stack import BenchStack
from benchmarks.growth.beside import Beside, by_size, say_size
from benchmarks.growth.costs import IN_FLIGHT, PARTITIONS, REQUESTS, SMALL, cores
from benchmarks.growth.fit import exponent
from benchmarks.growth.points import LATENCY_S, Pages, Point, fill
from devkit.guardian import ManagedProcess
from devkit.stack.topics import recreate_topics, remove_topics
from pipeline.capacity.costs import Costs
from pipeline.capacity.limits import forecast
from pipeline.capacity.load import Load
from pipeline.config.pipeline_config import MIB, ledger_topic_settings
from pipeline.deferral.entry import Entry
from pipeline.deferral.ledger import Ledger
from pipeline.deferral.ledger_log import LedgerLog
from pipeline.deferral.topic import LedgerTopic
from pipeline.deferral.wire import to_record
from pipeline.records.record import Position

T = TypeVar("T")
Clock = Callable[[], float]
Shape = Literal["pages", "hot"]

SIZES = (10, 100, 1_000, 10_000, 100_000)
SHAPES: tuple[Shape, ...] = ("pages", "hot")
# Below it what is fixed hides what grows.
GROWS_FROM = 1_000
SOURCE, TOPIC = "growth.ledger", "growth.ledger-topic"
_EVENT = b"x" * 1500
_LATER_MS = 10**15
_ROUND_PAGES = 64
_REPEATS = 5
_AT_ONCE = 5000


def entries(count: int, shape: Shape, *, topic: str = "elsewhere") -> Iterator[Entry]:
    """Stuck events of as many pages, or of four."""
    for number in range(count):
        page = number if shape == "pages" else number % 4
        yield Entry(
            Position(topic, page % PARTITIONS, number),
            b'{"wiki_id":"enwiki","page_id":%d}' % (10**9 + page),
            _EVENT,
            0,
            "stuck",
            1,
            _LATER_MS,
            "timeout: no answer within 5 s",
        )


def pure(sizes: Sequence[int] = SIZES) -> dict[str, object]:
    """Milliseconds for each step, and the exponent of its growth."""
    return {shape: _table(f"ledger of {shape}", {size: _steps(size, shape) for size in sizes}) for shape in SHAPES}


def _steps(size: int, shape: Shape) -> dict[str, float]:
    cpu = time.process_time  # what else runs on the machine does not count
    standing = list(entries(size, shape))
    fold_ms, ledger = _timed(lambda: Ledger(standing, max_entries=10**9, max_bytes=10**12), cpu)

    def plan_and_settle() -> None:
        snapshot = ledger.plan(limit_entries=1000, limit_bytes=64 * MIB, now_ms=0)
        ledger.batch_done(snapshot, ())

    first_ms, _ = _timed(plan_and_settle, cpu)
    snapshot = ledger.plan(limit_entries=1000, limit_bytes=64 * MIB, now_ms=0)
    ledger.batch_done(snapshot, ())
    packed = pickle.dumps(snapshot.fence, protocol=pickle.HIGHEST_PROTOCOL)

    def work_round() -> None:
        taken = ledger.take(now_ms=_LATER_MS, max_pages=_ROUND_PAGES, idle=False)
        assert taken
        again = [replace(entry, attempt=2) for entry in taken.entries]
        ledger.round_done(taken, resolved=(), rewritten=again)
        ledger.release(taken)

    return {
        "ledger_from_fold": fold_ms,
        "first_plan": first_ms,
        "plan_and_settle": _least(plan_and_settle, cpu),
        "pack_fence": _least(lambda: pickle.dumps(snapshot.fence, protocol=pickle.HIGHEST_PROTOCOL), cpu),
        "unpack_fence": _least(lambda: pickle.loads(packed), cpu),
        "look_nothing_due": _least(lambda: ledger.take(now_ms=0, max_pages=_ROUND_PAGES, idle=True), cpu),
        "slow_round": _least(work_round, cpu),
    }


def on_topic(stack: BenchStack, sizes: Sequence[int] = SIZES) -> dict[str, object]:
    """Milliseconds on the real topic, each size in a fresh one."""
    rows = {size: _topic_steps(stack, size) for size in sizes}
    return _table("ledger's topic", rows)


def _topic_steps(stack: BenchStack, size: int) -> dict[str, float]:
    recreate_topics(stack.kafka.bootstrap, {TOPIC: (1, ledger_topic_settings(MIB))})
    try:
        write_entries(stack.kafka.bootstrap, TOPIC, entries(size, "pages"))
        log = LedgerLog(topic := LedgerTopic(stack.kafka.bootstrap, TOPIC, MIB))
        start_ms, folded = _timed(log.begin)
        assert len(folded.entries) == size
        resolve_ms, _ = _timed(
            lambda: log.resolve(entry.position for entry in entries(min(size, _ROUND_PAGES), "pages"))
        )
        read_ms, _ = _timed(log.read)
        again_ms = _least(log.read)
        topic.close()
        return {"start": start_ms, "resolve_round": resolve_ms, "read_round": read_ms, "read_nothing": again_ms}
    finally:
        remove_topics(stack.kafka.bootstrap, [TOPIC])


def write_entries(bootstrap: str, topic: str, standing: Iterator[Entry]) -> None:
    """As a job of an earlier epoch left them. The topic is there."""
    ledger = LedgerTopic(bootstrap, topic, MIB)
    ledger.open()
    try:
        records = [to_record(entry, topic=topic, epoch=0) for entry in standing]
        for begin in range(0, len(records), _AT_ONCE):
            ledger.write(records[begin : begin + _AT_ONCE])
    finally:
        ledger.close()


@dataclass(frozen=True)
class WithLedger(Engine):
    """The engine, started on a ledger in which so many events stand."""

    standing: int = 0
    options: tuple[str, ...] = ("--adopt-ledger",)

    def start(self, place: Place) -> list[ManagedProcess]:
        # Of another topic: an event of the source whose position stands in the ledger would not be worked.
        write_entries(place.bootstrap, place.topics.deferred, entries(self.standing, "pages"))
        return super().start(place)


def with_engine(
    stack: BenchStack, directory: Path, costs: Costs, *, events: int, sizes: Sequence[int] = SIZES
) -> dict[str, object]:
    """Rate of the healthy events, small pages, while the deferred ones rest."""
    workload = Pages(events, page_bytes=SMALL)
    stack.set_pages(workload)
    fill(stack, SOURCE, workload, PARTITIONS)
    load = Load(LATENCY_S, REQUESTS, SMALL)
    points: dict[int, Beside] = {}
    for size in sizes:
        settings = {
            "fetch": {"concurrency": IN_FLIGHT},
            "batch": {"max_offsets": 1000},
            "deferral": {"max_entries": 10**6, "max_bytes": 10**10},
        }
        point = Point(f"ledger-{size}", SOURCE, PARTITIONS, events, settings)
        outcome = point.measure(stack, directory, WithLedger, standing=size)
        points[size] = Beside(outcome, forecast(point.config(), load, point.place(cores()), costs))
        say_size("deferred", size, points[size])
    return by_size("deferred", points)


def _table(title: str, rows: dict[int, dict[str, float]]) -> dict[str, object]:
    steps = list(next(iter(rows.values())))
    say(f"{title}, ms" + "".join(f"{size:>12,}" for size in rows) + "    grows as n to")
    growths: dict[str, float | None] = {}
    for step in steps:
        costs = {size: row[step] for size, row in rows.items()}
        many = sum(size >= GROWS_FROM for size in costs) > 1
        growths[step] = round(exponent(costs, least=GROWS_FROM), 2) if many else None
        say(f"  {step:<18}" + "".join(f"{cost:>12.3f}" for cost in costs.values()) + f"    {growths[step]}")
    return {
        "ms": {str(size): {step: round(cost, 4) for step, cost in row.items()} for size, row in rows.items()},
        "growth_exponent_from_1000": growths,
    }


def _timed(work: Callable[[], T], clock: Clock = time.perf_counter) -> tuple[float, T]:
    started = clock()
    result = work()
    return (clock() - started) * 1000, result


def _least(work: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    return min(_timed(work, clock)[0] for _ in range(_REPEATS))
