"""A plan and a forecast as they are shown: a figure, and its reason in one line."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from located_config.duration import format_duration
from pipeline.capacity.costs import MIB, Costs
from pipeline.capacity.limits import Forecast
from pipeline.capacity.load import Executors, Load
from pipeline.capacity.quota import QuotaLimit, quota_lines
from pipeline.capacity.sizing import CapacityPlan, Sizes

_SIZES = ("max_in_flight_bytes", "max_bytes")


def plan_lines(
    plan: CapacityPlan, load: Load, costs: Costs, headroom: float, limits: Sequence[QuotaLimit] = ()
) -> Iterator[str]:
    """The lines for a plan, whether it fits into a quota of these limits, and the settings to write."""
    sizes = plan.sizes
    yield f"for {plan.rate:g} events/s, {_work(load)}:"
    yield from _table(list(_needs(plan, load, costs, headroom)))
    yield f"bottleneck: {_bottleneck(sizes)}"
    yield f"by the model this reaches {plan.forecast.rate:.4g} events/s"
    if limits:
        yield ""
        yield from quota_lines(sizes.executors, limits)
    yield ""
    yield "to write into the configuration:"
    yield from _yaml(plan.settings)


def forecast_lines(outcome: Forecast, load: Load, place: Executors) -> Iterator[str]:
    """The lines for what a configuration reaches."""
    executors = f"{place.executors} executor" + ("s" if place.executors > 1 else "")
    yield f"{_work(load)}; {executors} of {place.cores:g} cores and {place.slots} slots, {place.partitions} partitions:"
    yield from _table([(limit.name, f"{limit.rate:,.4g}/s", limit.why) for limit in outcome.limits])
    yield f"a full batch lasts {outcome.batch_s:.3g} s, {outcome.beside_s:.3g} s of it beside the work"
    yield f"reached: {outcome.rate:,.4g} events/s; bottleneck: {outcome.bottleneck.name}"


def _needs(plan: CapacityPlan, load: Load, costs: Costs, headroom: float) -> Iterator[tuple[str, str, str]]:
    sizes, rate = plan.sizes, plan.rate
    settings = plan.config
    formula = f"{rate:g}/s x {load.requests:g} x {sizes.held_s:.3g} s (Little's law)"
    yield "requests in flight", f"{sizes.requests:,.0f}", formula
    yield "fetch.concurrency", f"{settings.fetch.concurrency:,}", f"x {headroom:g}: a batch fills and drains"
    each_ms = costs.worker(load.event_bytes) * 1000
    by = sizes.workers_by
    reason = f"{by['requests']} by requests, {costs.worker_requests} in each; {by['processor']} by processor"
    yield "Python workers", f"{sizes.workers}", f"{reason}, {each_ms:.3g} ms an event"
    yield "partitions", f"{sizes.workers}", "at least: a partition's events go to one worker"
    yield "slots", f"{sizes.slots}", f"a worker each, and {sizes.rounds} for rounds of the slow lane"
    every_ms = costs.everything(load.event_bytes) * 1000
    yield "processors", f"{sizes.processors:.1f}", f"{rate * headroom:g}/s x {every_ms:.3g} ms in worker and JVM"
    executors = ", ".join(f"{count} by {cause}" for cause, count in sizes.executors_by.items())
    yield (
        "executors",
        f"{sizes.executors}",
        f"of {plan.place.cores:g} cores and {plan.place.slots} slots: {executors}",
    )
    reason = (
        f"a batch of {sizes.offsets / rate:.3g} s, as {costs.batch_s:.3g} s are fixed and {sizes.last_s:.3g} s drain"
    )
    yield "batch.max_offsets", f"{sizes.offsets:,}", reason
    reason = f"in all, at worst {settings.fetch.concurrency:,} pages of {load.page_bytes / 1024:.4g} KiB"
    yield "bytes in flight", f"{sizes.in_flight_bytes / MIB:,.0f} MiB", reason
    reason = "of an executor, as --memory-limit; more of it leaves room for larger bodies"
    yield "memory", f"{sizes.memory / MIB:,.0f} MiB", reason
    if sizes.entries:
        reason = f"{load.slow_share:.3g} of the events rest, and take {load.slow_latency_s:g} s in the slow lane"
        yield "ledger", f"{sizes.entries:,}", reason


def _bottleneck(sizes: Sizes) -> str:
    executors = max(sizes.executors_by, key=lambda cause: sizes.executors_by[cause])
    if executors == "slots":
        workers = max(sizes.workers_by, key=lambda cause: sizes.workers_by[cause])
        by = "requests in flight" if workers == "requests" else "the processor of a Python worker"
        return f"executors by slots, slots by workers, workers by {by}"
    return f"executors by {executors}"


def _work(load: Load) -> str:
    latency = f"{load.requests:g} x {load.page_bytes / 1024:.4g} KiB in {load.latency_s:.3g} s an event"
    slow = f", {load.slow_share:.3g} of them with one of {load.slow_latency_s:g} s" if load.slow_share else ""
    return latency + slow


def _table(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    for name, value, reason in rows:
        yield f"  {name:<{first}}  {value:>{second}}  {reason}"


def _yaml(settings: dict[str, dict[str, Any]], indent: str = "  ") -> Iterator[str]:
    for section, keys in settings.items():
        if section:
            yield f"{indent}{section}:"
        for key, value in keys.items():
            deeper = indent + ("  " if section else "")
            if isinstance(value, dict):
                yield from _yaml({key: value}, deeper)
            else:
                yield f"{deeper}{key}: {_written(key, value)}"


def _written(key: str, value: Any) -> str:
    if isinstance(value, timedelta):
        return format_duration(value)
    return f"{value // MIB}MiB" if key in _SIZES else f"{value}"
