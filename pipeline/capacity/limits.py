"""The model: how many events a second each part of a job allows, and so which of them is the bottleneck.

    source ─▶ workers (one a partition) ─▶ requests in flight ─▶ processors ─▶ bytes in flight ─▶ batches
                                                 └─ slow ones ─▶ ledger ─▶ slow lane

In steady work Little's law holds for whatever is limited in number: as many are held as come in the time
that each is held. A micro-batch is not steady: it fills, drains to its slowest record, and costs a fixed time besides.
So the rate of steady work is the lowest of the first limits, and batches lower it.
"""

import math
from dataclasses import dataclass

from pipeline.capacity.costs import Costs
from pipeline.capacity.load import Executors, Load
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.entry import OVERHEAD_BYTES
from pipeline.driver.spark_slots import main_slots
from pipeline.fetch.worker_bounds import config_of_worker

# What a page change event of usual size counts in the ledger, generously.
EVENT_BYTES = 4096 + OVERHEAD_BYTES


@dataclass(frozen=True)
class Limit:
    """`rate` in events a second; `why` says it in one line."""

    name: str
    rate: float
    why: str


@dataclass(frozen=True)
class Forecast:
    """`limits` by rate, the lowest first, each as if there were no other; `rate` is that of all together.

    `batch_s` is how long a full micro-batch lasts, and `beside_s` what of it is not steady work.
    """

    rate: float
    limits: tuple[Limit, ...]
    workers: int
    batch_s: float
    beside_s: float

    @property
    def bottleneck(self) -> Limit:
        """The lowest limit."""
        return self.limits[0]


def forecast(config: PipelineConfig, load: Load, place: Executors, costs: Costs) -> Forecast:
    """The rate that the configuration reaches while a backlog waits in its source."""
    workers = max(1, min(place.partitions, main_slots(place.all_slots, config)))
    steady = [
        _requests(config, load, workers),
        _worker(load, costs, workers),
        _cores(load, costs, place),
        _bytes(config, load, workers),
    ]
    batch_s = _batch_s(config, load, costs, workers, steady)
    offsets = config.batch.max_offsets
    beside_s = batch_s - offsets / min(limit.rate for limit in steady)
    batch = Limit(
        "batches",
        offsets / beside_s if beside_s > 0 else math.inf,
        f"batch.max_offsets {offsets} in the {beside_s:.3g} s that a batch lasts beside its work, "
        f"{costs.batch_s:.3g} s of it fixed",
    )
    deferral = _slow_lane(config, load, costs)
    return Forecast(
        rate=min([offsets / batch_s, *(limit.rate for limit in deferral)]),
        limits=tuple(sorted([*steady, batch, *deferral], key=lambda limit: limit.rate)),
        workers=workers,
        batch_s=batch_s,
        beside_s=beside_s,
    )


def allowance_s(config: PipelineConfig) -> float:
    """How long a record may stay in the main lane."""
    deadline_s = config.fetch.deadline.total_seconds()
    if config.deferral.policy == "none":
        return deadline_s
    return min(config.deferral.inline_allowance.total_seconds(), deadline_s)


def is_deferred(load: Load, config: PipelineConfig) -> bool:
    """Whether slow events are deferred from the main lane."""
    slow = load.slow_share > 0 and load.slow_latency_s > allowance_s(config)
    return slow and config.deferral.policy == "defer"


def round_pages_s(config: PipelineConfig, load: Load, costs: Costs) -> tuple[float, float]:
    """How many slow events a round of the slow lane takes at best, and how long it then lasts.

    Its requests are bounded too: the slow one of each event, and the others, which are asked again.
    """
    lane = config.deferral.slow_lane
    pages = lane.pages
    of_an_event_s = load.slow_latency_s + (load.requests - 1) * load.latency_s
    return pages, costs.round_s + max(load.slow_latency_s, pages * of_an_event_s / lane.concurrency)


def _requests(config: PipelineConfig, load: Load, workers: int) -> Limit:
    in_flight = config_of_worker(config, workers).fetch.concurrency
    held_s = load.slot_s(allowance_s(config))
    return Limit(
        "requests in flight",
        workers * in_flight / (load.requests * held_s) if held_s else math.inf,
        f"{workers * in_flight} in flight ({workers} {_s(workers, 'worker')} x {in_flight}, fetch.concurrency "
        f"{config.fetch.concurrency}) / {load.requests:g} {_s(load.requests, 'request')} x {held_s:.3g} s",
    )


def _worker(load: Load, costs: Costs, workers: int) -> Limit:
    each_s = costs.worker(load.event_bytes)
    reason = f"{workers} {_s(workers, 'worker')}, each on one core at most, {each_s * 1000:.3g} ms an event"
    return Limit("Python workers", workers / each_s if each_s else math.inf, reason)


def _cores(load: Load, costs: Costs, place: Executors) -> Limit:
    each_s = costs.everything(load.event_bytes)
    reason = (
        f"{place.all_cores:g} {_s(place.all_cores, 'core')}, {each_s * 1000:.3g} ms an event of all that runs there"
    )
    return Limit("processors", place.all_cores / each_s if each_s else math.inf, reason)


def _bytes(config: PipelineConfig, load: Load, workers: int) -> Limit:
    """The worst case: a page counts from the beginning of its request to its end.

    One record may always exceed the bound, so a worker has at least one in flight.
    """
    bytes_of_worker = config_of_worker(config, workers).fetch.in_flight_bound
    records = max(1.0, bytes_of_worker / load.event_bytes) if load.event_bytes else math.inf
    held_s = max(load.slot_s(allowance_s(config)), 1e-9)
    reason = (
        f"{workers * records:.4g} records of {load.event_bytes / 1024:.4g} KiB in fetch.max_in_flight_bytes "
        f"{config.fetch.max_in_flight_bytes}, each for at most {held_s:.3g} s"
    )
    return Limit("bytes in flight", workers * records / held_s, reason)


def _batch_s(config: PipelineConfig, load: Load, costs: Costs, workers: int, steady: list[Limit]) -> float:
    """How long a full batch lasts: a fixed time, the work, and then what its last records take."""
    events = config.batch.max_offsets
    window = workers * config_of_worker(config, workers).fetch.concurrency / load.requests
    held_s = load.slot_s(allowance_s(config))
    slow_in_it = min(1.0, events * load.slow_share)
    slowest_s = min(max(load.slow_latency_s, load.latency_s), max(allowance_s(config), load.latency_s))
    last_s = load.latency_s + slow_in_it * (slowest_s - load.latency_s)
    # Waiting goes in waves of as many as there is room for; the last wave is not full, and takes as long.
    in_waves_s = math.ceil(events / window) * held_s + slow_in_it * (slowest_s - load.latency_s)
    rate = min(limit.rate for limit in steady if limit.name != "requests in flight")
    busy_s = max(in_waves_s, events / rate + last_s)
    return max(costs.batch_s + busy_s, config.batch.trigger.total_seconds())


def _slow_lane(config: PipelineConfig, load: Load, costs: Costs) -> list[Limit]:
    """The rate that deferral allows. Above it the ledger fills, and the main lane waits."""
    if not is_deferred(load, config):
        return []
    lane, bounds = config.deferral.slow_lane, config.deferral
    pages, round_s = round_pages_s(config, load, costs)
    rounds = Limit(
        "slow lane",
        lane.rounds * pages / round_s / load.slow_share,
        f"{lane.rounds} {_s(lane.rounds, 'round')} of {pages} events in {round_s:.3g} s, of which "
        f"{load.slow_share:.3g} of all events are",
    )
    # It rests, waits for a round to end, and is in one.
    stays_s = lane.backoff.total_seconds() + 1.5 * round_s
    room = min(bounds.max_entries, bounds.max_bytes / EVENT_BYTES)
    ledger = Limit(
        "ledger",
        room / stays_s / load.slow_share,
        f"room for {room:.0f} events (deferral.max_entries, max_bytes), each for {stays_s:.3g} s",
    )
    return [rounds, ledger]


def _s(count: float, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"
