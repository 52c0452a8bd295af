"""Whether a plan fits into the quota of a Kubernetes namespace: the pods of all executors and of the driver, each with
its sidecar.

    executors x (executor + sidecar) + driver + sidecar <= quota, of CPU and of memory

Amounts are whole numbers of their unit, thousandths of a CPU or MiB, so that the sum printed is the sum computed.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.capacity.costs import MIB

_CPU = re.compile(r"(\d{1,6})(?:\.(\d{1,3}))?|(\d{1,9})m")


def parse_cpu(text: str) -> int:
    """`2`, `0.5` or `500m`, as Kubernetes writes CPU, in thousandths. Raises ValueError."""
    match = _CPU.fullmatch(text)
    if match is None:
        raise ValueError(f"not a number of CPUs (got {text!r}); write 2, 0.5 or 500m")
    whole, fraction, thousandths = match.groups()
    return int(thousandths) if thousandths else 1000 * int(whole) + int((fraction or "").ljust(3, "0"))


def _cpu(thousandths: int) -> str:
    return f"{thousandths / 1000:,.3f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class QuotaLimit:
    """A quota's limit of one resource, and what one pod of each kind requests of it."""

    name: str
    limit: int
    executor: int
    driver: int
    sidecar: int
    shown: Callable[[int], str]

    @property
    def fitting(self) -> int:
        """The number of executors for which there is room beside the driver; -1 where the driver has none."""
        return (self.limit - self.driver - self.sidecar) // (self.executor + self.sidecar)

    def total(self, executors: int) -> int:
        """The amount that all pods request together."""
        return executors * (self.executor + self.sidecar) + self.driver + self.sidecar


def cpu_limit(limit: int, *, executor: int, driver: int, sidecar: int) -> QuotaLimit:
    """All in thousandths of a CPU."""
    return QuotaLimit("CPU", limit, executor, driver, sidecar, _cpu)


def memory_limit(limit: int, *, executor: int, driver: int, sidecar: int) -> QuotaLimit:
    """All in bytes: the quota's rounded down to MiB, the pods' up."""
    executor, driver, sidecar = (-(-size // MIB) for size in (executor, driver, sidecar))
    return QuotaLimit("memory, MiB", limit // MIB, executor, driver, sidecar, lambda amount: f"{amount:,}")


def bottleneck(limits: Sequence[QuotaLimit]) -> QuotaLimit:
    """The limit into which the fewest executors fit."""
    return min(limits, key=lambda limit: limit.fitting)


def quota_lines(needed: int, limits: Sequence[QuotaLimit]) -> Iterator[str]:
    """For `needed` executors: the sum of each limit, and whether they fit."""
    yield "in the namespace's quota:"
    width = max(len(limit.name) for limit in limits)
    for limit in limits:
        yield f"  {limit.name:<{width}}  {_sum(needed, limit)}"
    bound = bottleneck(limits)
    fitting = max(0, bound.fitting)
    outcome = "fits" if needed <= bound.fitting else "does not fit"
    executors = "executor" if needed == 1 else "executors"
    yield f"{outcome}: {needed} {executors} needed, {fitting} fit; bottleneck: {bound.name.partition(',')[0]}"


def _sum(needed: int, limit: QuotaLimit) -> str:
    shown = limit.shown
    pod, driver, of_driver = shown(limit.executor), shown(limit.driver), shown(limit.driver + limit.sidecar)
    if limit.sidecar:
        sidecar = shown(limit.sidecar)
        pod, driver = f"({pod} + sidecar {sidecar})", f"{driver} + sidecar {sidecar}"
    quotient = (limit.limit - limit.driver - limit.sidecar) / (limit.executor + limit.sidecar)
    return (
        f"{needed} x {pod} + driver {driver} = {shown(limit.total(needed))} of {shown(limit.limit)}; "
        f"({shown(limit.limit)} - {of_driver}) / {shown(limit.executor + limit.sidecar)} = {quotient:,.2f}"
    )
