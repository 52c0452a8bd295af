"""How a container's memory is divided between the JVM and Python, for a number of slots.

    limit ≥ driver's Python + JVM heap + JVM besides the heap
          + slots x (a Python worker as such + one record at work + results that wait for the sink)
          + content in flight x what a byte of it costs

What the configuration says itself is taken as it is; what it leaves open is derived: each has a least amount, and what
remains is shared out. The figures below were measured (`benchmarks/worker_memory.py`, and resident memory under the
integration tests' load) and rounded up.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from pipeline.config.pipeline_config import MIB, PipelineConfig
from pipeline.driver.spark_slots import slow_rounds
from pipeline.errors import RefusedError
from pipeline.kafka.sink import producer_sizes
from pipeline.state.state_mark import has_state

Place = Literal["local", "executor"]

# A worker that has imported everything and worked: 170 to 210 MiB resident, some of it shared with its siblings. Up to
# 300 while many pages of 1 MiB come at once; what is kept for a record at work, of the largest size, is free then.
WORKER = 224 * MIB
# Text of a page that waits for its other revision is held as Python's string: of an ASCII page with one emoji that is
# four bytes a character. Measured between 1.7 (ASCII) and 5.3 (1 MiB pages with an emoji) a byte in flight.
COST_IN_FLIGHT = 6
# Besides, the record at work is there as bodies, texts, lines, diff, JSON and Arrow at once: 4.9 times its two bodies.
COST_AT_WORK = 5
BODIES = 2
# With source.read: aligned, a worker beside each that only reads, and the query's planner: 134 MiB resident with all
# that they import, and a batch of records on its way.
READER = 160 * MIB
# The driver's own Python: 190 MiB when idle. The ledger's entries are there, their rows for a batch, and its messages.
DRIVER = 256 * MIB
COST_LEDGER = 3
# The JVM's heap: Spark, then the producer's buffer, and for each task what it reads from Kafka and a record's copies.
HEAP = 384 * MIB
HEAP_OF_SLOT = 32 * MIB
COPIES_OF_RECORD = 4
# Metaspace, compiled code, threads; for each slot Arrow's and the network's buffers outside the heap.
BESIDES_HEAP = 320 * MIB
BESIDES_HEAP_OF_SLOT = 16 * MIB

_MOST_HEAP = 8 * 1024 * MIB


@dataclass(frozen=True, slots=True)
class Setting:
    """One of the pipeline's settings that memory bounds: the least that makes sense, how much what is left over it may
    have, and up to what. `cost` is bytes of memory for each byte of the setting.
    """

    name: str
    least: int
    most: int | None
    share: int
    cost: int
    asked: int | None

    @property
    def floor(self) -> int:
        """Bytes that it gets at least: what the configuration asks for, or what makes sense."""
        return self.least if self.asked is None else self.asked


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """A number of bytes of the limit, and what sets them."""

    what: str
    size: int
    why: str


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """All in bytes, but for numbers: of `slots`, of slow `rounds`, of `readers` that only read the source. `in_flight`,
    `slow_round`, `body`, `results` and `state` are settings; the others what processes take.
    """

    limit: int
    slots: int
    rounds: int
    place: Place
    driver: int
    heap: int
    besides_heap: int
    in_flight: int
    slow_round: int
    body: int
    results: int
    readers: int = 0
    state: int = 0

    @property
    def workers(self) -> int:
        """Bytes of all Python workers."""
        of_slot = WORKER + COST_AT_WORK * BODIES * self.body + self.results
        in_flight = COST_IN_FLIGHT * (self.in_flight + self.rounds * self.slow_round)
        return self.slots * of_slot + in_flight + self.readers * READER

    @property
    def total(self) -> int:
        """Bytes of all parts together, at most `limit`."""
        return self.driver + self.heap + self.besides_heap + self.state + self.workers

    @property
    def parts(self) -> Iterator[MemoryPart]:
        """The parts whose sum is the total."""
        if self.place == "local":
            yield MemoryPart("driver, Python", self.driver, "with the ledger, deferral.max_bytes")
        yield MemoryPart("JVM heap", self.heap, f"spark.{_side(self.place)}.memory")
        yield MemoryPart("JVM besides", self.besides_heap, "metaspace, code, threads, Arrow, network")
        if self.state:
            yield MemoryPart("state", self.state, "RocksDB's caches and buffers, state.max_bytes")
        yield MemoryPart("workers as such", self.slots * WORKER, f"{self.slots} slots, {WORKER // MIB} MiB each")
        at_work = COST_AT_WORK * BODIES * self.body
        yield MemoryPart(
            "records at work", self.slots * at_work, f"{COST_AT_WORK} x {BODIES} bodies in each: claim_check.max_bytes"
        )
        yield MemoryPart("results waiting", self.slots * self.results, "result_buffer in each")
        yield MemoryPart(
            "content in flight", COST_IN_FLIGHT * self.in_flight, f"{COST_IN_FLIGHT} x fetch.max_in_flight_bytes"
        )
        if self.readers:
            reason = f"source.read: aligned, {self.readers} of {READER // MIB} MiB"
            yield MemoryPart("readers and planner", self.readers * READER, reason)
        if self.rounds:
            slow = COST_IN_FLIGHT * self.rounds * self.slow_round
            yield MemoryPart("slow rounds", slow, f"{COST_IN_FLIGHT} x {self.rounds} x slow_lane.max_in_flight_bytes")

    @property
    def settings(self) -> dict[str, int]:
        """The pipeline's settings by their keys."""
        of_state = {"state.max_bytes": self.state} if self.state else {}
        return {
            "fetch.max_in_flight_bytes": self.in_flight,
            "deferral.slow_lane.max_in_flight_bytes": self.slow_round,
            "claim_check.max_bytes": self.body,
            "result_buffer": self.results,
            **of_state,
        }


def derive(limit: int, slots: int, config: PipelineConfig, *, place: Place = "local") -> MemoryPlan:
    """The plan whose total is within `limit` bytes, for `slots` tasks at once in this process or in an executor.

    Raises RefusedError that says the least that works.
    """
    if config.fetch.max_in_flight_bytes == "none":
        raise RefusedError(
            f"fetch.max_in_flight_bytes is none, so no --memory-limit holds, not {_mib(limit)} either",
            hint="remove it, to have it derived",
        )
    rounds = slow_rounds(config)
    settings = _settings(config, slots, rounds)
    driver = DRIVER + (COST_LEDGER * config.deferral.max_bytes if rounds else 0) if place == "local" else 0
    heap, besides = _heap(config, slots), _besides_heap(config, slots)
    readers = 0
    if config.source.read == "aligned":
        readers = slots + (1 if place == "local" else 0)
    fixed = driver + heap + besides + slots * WORKER + readers * READER
    minimum = fixed + sum(setting.cost * setting.floor for setting in settings)
    if limit < minimum:
        raise _too_small(limit, slots, minimum, settings)
    remaining = limit - minimum
    shares = sum(setting.share for setting in settings if setting.asked is None and setting.cost) + 1
    *values, state = [_value(setting, remaining, shares) for setting in settings]
    # The heap has a share as well.
    heap = _whole_mib(min(heap + remaining // shares, max(heap, _MOST_HEAP)))
    return replace(
        MemoryPlan(limit, slots, rounds, place, driver, heap, besides, *values), readers=readers, state=state
    )


def applied(config: PipelineConfig, plan: MemoryPlan) -> PipelineConfig:
    """The configuration with what was derived."""
    slow_lane = config.deferral.slow_lane.model_copy(update={"max_in_flight_bytes": plan.slow_round})
    return config.model_copy(
        update={
            "fetch": config.fetch.model_copy(update={"max_in_flight_bytes": plan.in_flight}),
            "deferral": config.deferral.model_copy(update={"slow_lane": slow_lane}),
            "claim_check": config.claim_check.model_copy(update={"max_bytes": plan.body}),
            "result_buffer": plan.results,
            "state": config.state.model_copy(update={"max_bytes": plan.state}) if plan.state else config.state,
        }
    )


def _settings(config: PipelineConfig, slots: int, rounds: int) -> list[Setting]:
    def asked(section: object, name: str) -> int | None:
        """The value in the configuration; None for a default."""
        value: int = getattr(section, name)
        return value if name in getattr(section, "model_fields_set", ()) else None

    slow_lane, at_work = config.deferral.slow_lane, slots * COST_AT_WORK * BODIES
    in_flight = asked(config.fetch, "max_in_flight_bytes")
    slow_round = asked(slow_lane, "max_in_flight_bytes")
    body, results = asked(config.claim_check, "max_bytes"), asked(config, "result_buffer")
    usual = config.claim_check.max_bytes
    has_stores = has_state(config) and config.state.provider == "rocksdb"
    usual_state, state = config.state.max_bytes, asked(config.state, "max_bytes")
    return [
        Setting("fetch.max_in_flight_bytes", 8 * MIB, None, 2, COST_IN_FLIGHT, in_flight),
        Setting("deferral.slow_lane.max_in_flight_bytes", 4 * MIB, None, 1, COST_IN_FLIGHT * rounds, slow_round),
        Setting("claim_check.max_bytes", min(4 * MIB, usual), usual, 4, at_work, body),
        Setting("result_buffer", min(4 * MIB, config.result_buffer), config.result_buffer, 1, slots, results),
        Setting("state.max_bytes", min(32 * MIB, usual_state), usual_state, 1, 1, state)
        if has_stores
        else Setting("state.max_bytes", 0, None, 0, 0, None),
    ]


def _value(setting: Setting, remaining: int, shares: int) -> int:
    if setting.asked is not None:
        return setting.asked
    if not setting.cost:
        return setting.least  # unused
    value = setting.least + setting.share * remaining // shares // setting.cost
    return _whole_mib(value if setting.most is None else min(value, setting.most))


def _heap(config: PipelineConfig, slots: int) -> int:
    sizes = producer_sizes(config.sink)
    of_slot = HEAP_OF_SLOT + COPIES_OF_RECORD * sizes["max.request.size"]
    return _up_to_mib(HEAP + sizes["buffer.memory"] + slots * of_slot)


def _besides_heap(config: PipelineConfig, slots: int) -> int:
    # A record is in an Arrow batch twice: as Python's, and as the JVM has read it.
    return _up_to_mib(BESIDES_HEAP + slots * (BESIDES_HEAP_OF_SLOT + 2 * config.sink.max_request_size))


def _too_small(limit: int, slots: int, minimum: int, settings: list[Setting]) -> RefusedError:
    explicit = [
        setting for setting in settings if setting.asked is not None and setting.asked > setting.least and setting.cost
    ]
    without = minimum - sum(setting.cost * (setting.floor - setting.least) for setting in explicit)
    if limit >= without:
        floors = ", ".join(f"{setting.name} {_mib(setting.floor)}" for setting in explicit)
        return RefusedError(
            f"--memory-limit {_mib(limit)} with {slots} slots leaves no room for {floors}: with that it takes "
            f"{_mib(minimum)}",
            hint=f"remove its own value, to have it derived, or give it {_mib(minimum)}",
        )
    return RefusedError(
        f"--memory-limit {_mib(limit)} is too small for {slots} slots: they take at least {_mib(minimum)}",
        hint=f"give it {_mib(minimum)}, or fewer slots",
    )


def _side(place: Place) -> str:
    return "driver" if place == "local" else "executor"


def _mib(size: int) -> str:
    """Rounded up, so that the figure reported works."""
    return f"{-(-size // MIB)}MiB"


def _up_to_mib(size: int) -> int:
    return -(-size // MIB) * MIB


def _whole_mib(size: int) -> int:
    return size // MIB * MIB if size >= MIB else size
