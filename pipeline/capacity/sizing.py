"""What a rate needs: the model solved for what has to be there, and checked against the model before it is reported.

    rate x headroom ─▶ requests in flight ─▶ workers ─▶ partitions, slots ─▶ executors
                   ├─▶ batch.max_offsets       └─ processors ────────────────┘
                   └─▶ rounds of the slow lane, room in the ledger

The headroom is what makes up for a batch's fixed time, its filling and its draining: with 1.5 the steady work is half
again as fast as the rate, and a batch is as long as that takes.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pydantic import ValidationError

from located_config.problem import in_line
from pipeline.capacity.costs import MIB, Costs
from pipeline.capacity.limits import EVENT_BYTES, Forecast, allowance_s, forecast, is_deferred, round_pages_s
from pipeline.capacity.load import Executors, Load
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import RefusedError
from pipeline.memory.division import derive

_MOST = 1 << 40


def least_memory(config: PipelineConfig, slots: int, executors: int, in_flight_bytes: int) -> int:
    """Bytes, in whole MiB, that each of the executors needs at least when it has its part of what is in flight."""
    sized = _with_in_flight(config, in_flight_bytes // executors)
    return MIB * _least(lambda size: _fits(size * MIB, slots, sized), most=_MOST // MIB)


def executors_for(limit: int, config: PipelineConfig, slots: int, in_flight_bytes: int) -> int:
    """How many executors of the given bytes hold what is in flight. Raises RefusedError when none is large enough."""
    derive(limit, slots, _with_in_flight(config, 1), place="executor")  # says itself what would do
    most = max(2, in_flight_bytes)
    return _least(lambda count: _fits(limit, slots, _with_in_flight(config, in_flight_bytes // count)), most=most)


def _with_in_flight(config: PipelineConfig, in_flight_bytes: int) -> PipelineConfig:
    return config.model_copy(
        update={"fetch": config.fetch.model_copy(update={"max_in_flight_bytes": max(1, in_flight_bytes)})}
    )


def _fits(limit: int, slots: int, config: PipelineConfig) -> bool:
    try:
        derive(limit, slots, config, place="executor")
    except RefusedError:
        return False
    return True


def _least(is_enough: Callable[[int], bool], *, most: int) -> int:
    """The lowest number from 1 that is enough, when all above it are; `most` is."""
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        if is_enough(middle):
            high = middle
        else:
            low = middle + 1
    return low


Settings = dict[str, dict[str, Any]]
"""By section; "" is the top of the file."""

_SHORTEST_ALLOWANCE_S = 5.0
# A round that has a request for each of its pages, and one for what is asked again beside it, lasts as its slowest.
_ROUND_PAGES = 64
_ROUND = {"pages": _ROUND_PAGES, "concurrency": 2 * _ROUND_PAGES}


@dataclass(frozen=True)
class Sizes:
    """`requests` are in flight on average, `held_s` each. `workers_by` and `executors_by`: what asks for how many.

    `memory` is an executor's, in bytes.
    """

    requests: float
    held_s: float
    of_each: int
    workers_by: Mapping[str, int]
    executors_by: Mapping[str, int]
    rounds: int
    processors: float
    offsets: int
    last_s: float
    in_flight_bytes: int
    memory: int
    entries: int

    @property
    def workers(self) -> int:
        """As many as partitions."""
        return max(self.workers_by.values())

    @property
    def executors(self) -> int:
        """The number that every resource needs at least."""
        return max(self.executors_by.values())

    @property
    def slots(self) -> int:
        """Spark slots of the whole job: one for each Python worker, one for each round of the slow lane."""
        return self.workers + self.rounds


@dataclass(frozen=True)
class CapacityPlan:
    """`config` is the configuration that was asked about with `settings` written into it, `forecast` what it does."""

    rate: float
    sizes: Sizes
    settings: Settings
    config: PipelineConfig
    place: Executors
    forecast: Forecast


def plan(
    rate: float,
    load: Load,
    config: PipelineConfig,
    costs: Costs,
    *,
    cores: int = 4,
    slots: int = 4,
    headroom: float = 1.5,
    memory_limit: int | None = None,
) -> CapacityPlan:
    """What `rate` events a second need, with executors of `cores` cores and `slots` of Spark's slots.

    `memory_limit` is an executor's, in bytes; without it they take what they need.

    `config` says what is not a question of capacity. Raises RefusedError when nothing can be enough.
    """
    if headroom <= 1:
        raise RefusedError(f"headroom {headroom:g} is not above 1", hint="a batch has to fill and to drain; try 1.5")
    patience = _patience(config, load)
    patient = _with(config, patience)
    sizes = _sizes(rate, load, patient, costs, cores=cores, slots=slots, headroom=headroom, limit=memory_limit)
    settings = _merged(patience, _settings(rate, sizes, patient))
    planned = _with(config, settings)
    place = Executors(sizes.executors, cores, slots, sizes.workers)
    reached = forecast(planned, load, place, costs)
    if reached.rate < rate:
        bottleneck = reached.bottleneck
        raise RefusedError(
            f"{rate:g} events/s are not reached: {bottleneck.name} allows {reached.rate:.4g} ({bottleneck.why})",
            hint="raise that in the file of --config, or give a larger --headroom",
        )
    return CapacityPlan(rate, sizes, settings, planned, place, reached)


def _sizes(
    rate: float,
    load: Load,
    config: PipelineConfig,
    costs: Costs,
    *,
    cores: int,
    slots: int,
    headroom: float,
    limit: int | None,
) -> Sizes:
    steady = rate * headroom
    held_s = load.slot_s(allowance_s(config))
    in_flight = steady * load.requests * held_s
    each_s = costs.worker(load.event_bytes)
    workers_by = {
        "requests": max(1, math.ceil(in_flight / costs.worker_requests)),
        "processor": max(1, math.ceil(steady * each_s)),
    }
    workers = max(workers_by.values())
    concurrency = max(math.ceil(load.requests), math.ceil(in_flight / workers))
    rounds, entries = _deferral(steady, load, config, costs)
    processors = steady * costs.everything(load.event_bytes)
    last_s = max(load.latency_s, min(load.slow_latency_s, allowance_s(config)) if load.slow_share else 0.0)
    # `held_s` again: of the last wave of requests only a part may be there.
    offsets = math.ceil(rate * (costs.batch_s + last_s + held_s) / (1 - 1 / headroom))
    at_worst = workers * concurrency * load.page_bytes
    bound = config.fetch.max_in_flight_bytes
    in_flight_bytes = max(0 if bound == "none" else bound, math.ceil(at_worst / MIB) * MIB)
    executors_by = {"slots": math.ceil((workers + rounds) / slots), "processors": math.ceil(processors / cores)}
    if limit is not None:
        executors_by["memory"] = executors_for(limit, config, slots, in_flight_bytes)
    return Sizes(
        requests=rate * load.requests * held_s,
        held_s=held_s,
        of_each=concurrency,
        workers_by=workers_by,
        executors_by=executors_by,
        rounds=rounds,
        processors=processors,
        offsets=max(offsets, workers),
        last_s=last_s,
        in_flight_bytes=in_flight_bytes,
        memory=limit or least_memory(config, slots, max(executors_by.values()), in_flight_bytes),
        entries=entries,
    )


def _deferral(steady: float, load: Load, config: PipelineConfig, costs: Costs) -> tuple[int, int]:
    """How many rounds of the slow lane at once, and how much room in the ledger, half as much again as it takes."""
    if config.deferral.policy == "none":
        return 0, 0
    lane = config.deferral.slow_lane
    if not is_deferred(load, config):
        return lane.rounds, 0
    if load.slow_latency_s >= lane.deadline.total_seconds():
        raise RefusedError(
            f"pages of {load.slow_latency_s:g} s never end within deferral.slow_lane.deadline "
            f"{lane.deadline.total_seconds():g} s",
            hint="set the deadline above them in the file of --config",
        )
    pages, round_s = round_pages_s(_with(config, {"deferral": {"slow_lane": _ROUND}}), load, costs)
    rounds = max(1, math.ceil(steady * load.slow_share * round_s / pages))
    stays_s = lane.backoff.total_seconds() + 1.5 * round_s
    return rounds, math.ceil(1.5 * steady * load.slow_share * stays_s)


def _patience(config: PipelineConfig, load: Load) -> Settings:
    """Usual pages must end within their allowance and their timeouts, else all of them are deferred."""
    usual_s = math.ceil(max(2 * load.latency_s, _SHORTEST_ALLOWANCE_S))
    settings: Settings = {}

    def at_least(section: str, key: str, now: timedelta, least_s: float) -> None:
        if now.total_seconds() < least_s:
            settings.setdefault(section, {})[key] = timedelta(seconds=math.ceil(least_s))

    if config.deferral.policy == "defer" and config.deferral.inline_allowance.total_seconds() < 2 * load.latency_s:
        at_least("deferral", "inline_allowance", config.deferral.inline_allowance, usual_s)
    at_least("fetch", "request_timeout", config.fetch.request_timeout, 2 * load.latency_s)
    at_least("fetch", "deadline", config.fetch.deadline, 2 * load.latency_s)
    at_least("", "stall_timeout", config.stall_timeout, 4 * load.latency_s)
    return settings


def _settings(rate: float, sizes: Sizes, config: PipelineConfig) -> Settings:
    settings: Settings = {
        "fetch": {"concurrency": sizes.workers * sizes.of_each},
        "batch": {"max_offsets": sizes.offsets},
    }
    if sizes.in_flight_bytes > config.fetch.in_flight_bound:
        settings["fetch"]["max_in_flight_bytes"] = sizes.in_flight_bytes
    if sizes.entries:
        settings["deferral"] = {"slow_lane": {"rounds": sizes.rounds, **_ROUND}}
    if sizes.entries > config.deferral.max_entries:
        settings["deferral"]["max_entries"] = sizes.entries
    if sizes.entries * EVENT_BYTES > config.deferral.max_bytes:
        settings["deferral"]["max_bytes"] = math.ceil(sizes.entries * EVENT_BYTES / MIB) * MIB
    if 2 * sizes.offsets / rate > config.stall_timeout.total_seconds():
        settings[""] = {"stall_timeout": timedelta(seconds=math.ceil(2 * sizes.offsets / rate))}
    return settings


def _merged(base: Settings, override: Settings) -> Settings:
    return {section: base.get(section, {}) | override.get(section, {}) for section in dict.fromkeys([*base, *override])}


def _with(config: PipelineConfig, settings: Settings) -> PipelineConfig:
    """The configuration with these settings. Keys that are not set stay unset, as they follow from the others. Raises
    RefusedError.
    """
    document = config.model_dump(by_alias=True, exclude_unset=True)
    for section, keys in settings.items():
        part = document.setdefault(section, {}) if section else document
        for key, value in keys.items():
            part[key] = part.get(key, {}) | value if isinstance(value, dict) else value
    try:
        return PipelineConfig.model_validate(document)
    except ValidationError as error:
        reason = in_line(error, PipelineConfig, document)
        raise RefusedError(
            f"what is needed does not go with the rest of the configuration: {reason}",
            hint="change that in the file of --config",
        ) from error
