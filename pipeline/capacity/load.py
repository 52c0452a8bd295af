"""What the model is asked about: the work an event makes, and the place that does it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Load:
    """Each event makes `requests` requests on average, which take `latency_s` and answer with `page_bytes`.

    Of a `slow_share` of the events one request takes `slow_latency_s`.
    """

    latency_s: float
    requests: float = 2
    page_bytes: int = 50 * 1024
    slow_share: float = 0.0
    slow_latency_s: float = 0.0

    @property
    def event_bytes(self) -> int:
        """Bytes that are fetched for one event."""
        return round(self.requests * self.page_bytes)

    def slot_s(self, allowance_s: float) -> float:
        """For how long a request of the main lane holds its slot on average; a slow one is deferred."""
        slow_s = min(max(self.slow_latency_s, self.latency_s), max(allowance_s, self.latency_s))
        return self.latency_s + self.slow_share * (slow_s - self.latency_s) / self.requests


@dataclass(frozen=True)
class Executors:
    """`executors`, each with `cores` cores and `slots` Spark slots, read a topic of `partitions` partitions."""

    executors: int
    cores: float
    slots: int
    partitions: int

    @property
    def all_slots(self) -> int:
        """Spark slots of the whole job, those of slow rounds included."""
        return self.executors * self.slots

    @property
    def all_cores(self) -> float:
        """Cores of the whole job, a fraction where `cores` is one."""
        return self.executors * self.cores
