"""What work costs, as measured: the constants of the model, with where they are from.

They are those of one machine and one workload. A machine that is faster or slower needs its own, which
`just bench growth costs` measures and the flags of `pipeline plan` take.
"""

from dataclasses import dataclass

MIB = 1024 * 1024
MEASURED = "benchmarks/results/growth.json"


@dataclass(frozen=True)
class Costs:
    """Processor seconds for each event and for each MiB that is fetched for it, and the fixed cost of a micro-batch.

    `worker`: the Python worker, which uses one core at most. `jvm`: Spark and its producer. `elsewhere`: what others
    on the same cores do for an event, as broker and mock do on one machine; nothing in production. `batch_s` is the
    time between batches and before the first request of one; `round_s` the same for a round of the slow lane.
    `worker_requests`: how many requests one worker was measured with, and kept in flight.
    """

    worker_s: float = 0.001
    worker_s_per_mib: float = 0.0035
    jvm_s: float = 0.00036
    jvm_s_per_mib: float = 0.001
    elsewhere_s: float = 0.0
    elsewhere_s_per_mib: float = 0.0
    batch_s: float = 0.55
    round_s: float = 1.0
    worker_requests: int = 512

    def worker(self, event_bytes: int) -> float:
        """Processor seconds of the Python worker for an event of `event_bytes` fetched bytes."""
        return self.worker_s + self.worker_s_per_mib * event_bytes / MIB

    def everything(self, event_bytes: int) -> float:
        """Seconds of all processes that share the executor's cores."""
        per_mib = self.worker_s_per_mib + self.jvm_s_per_mib + self.elsewhere_s_per_mib
        return self.worker_s + self.jvm_s + self.elsewhere_s + per_mib * event_bytes / MIB
