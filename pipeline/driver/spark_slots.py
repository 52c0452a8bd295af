"""Spark's slots, shared by the two lanes: a slow round takes one for as long as its slowest page.

    slots = those of the main lane + deferral.slow_lane.rounds

With rounds in all slots a batch would wait for them: the slow pages would hold up the fast ones after all.
"""

import re
from collections.abc import Mapping

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import RefusedError

_LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*\d+\s*\]")
"""Executors, cores of each, MiB of each."""


def is_local(master: str) -> bool:
    """Whether tasks run in the driver's own JVM; those of `local-cluster[…]` run in processes of this machine."""
    return master.startswith("local") and not master.startswith("local-cluster")


def local_cluster(master: str) -> tuple[int, int] | None:
    """Executors, and the cores of each; None for any other master."""
    match = _LOCAL_CLUSTER.fullmatch(master)
    return (int(match[1]), int(match[2])) if match else None


def main_slots(slots: int, config: PipelineConfig) -> int:
    """How many tasks of a batch may run at once, at least one."""
    return max(1, slots - slow_rounds(config))


def slots_at_most(master: str, spark: Mapping[str, str], parallelism: int) -> int | None:
    """How many tasks may run at once when all executors are there, by Spark's settings; None where those do not say.

    `parallelism` is Spark's own word for it, which on a cluster counts only the executors that have come so far.
    """
    if is_local(master):
        return parallelism
    of_task = int(spark.get("spark.task.cpus", 1))
    bounds = []
    if local_executors := local_cluster(master):
        executors, cores = local_executors
        bounds.append(executors * (cores // of_task))
    if "spark.cores.max" in spark:
        bounds.append(int(spark["spark.cores.max"]) // of_task)
    is_dynamic = spark.get("spark.dynamicAllocation.enabled", "false").lower() == "true"
    number = spark.get("spark.dynamicAllocation.maxExecutors" if is_dynamic else "spark.executor.instances")
    if number is not None and "spark.executor.cores" in spark:
        bounds.append(int(number) * (int(spark["spark.executor.cores"]) // of_task))
    return max(1, min(bounds)) if bounds else None


def require_slots(master: str, slots: int, config: PipelineConfig) -> None:
    """Raises RefusedError when slow rounds may take every slot of a local Spark.

    A cluster's executors come when the job is under way, so how many slots it has is not known at the start.
    """
    rounds = slow_rounds(config)
    if is_local(master) and slots <= rounds:
        raise RefusedError(
            f"Spark has {slots} {'slot' if slots == 1 else 'slots'} (spark.master {master}), all of which "
            f"deferral.slow_lane.rounds {rounds} may take: batches would wait for slow pages",
            hint=f"give it one for each source partition besides, at least local[{rounds + 1}] (more than there are "
            "cores is fine), or work fewer rounds at once; --allow-unsafe accepts it",
        )


def slow_rounds(config: PipelineConfig) -> int:
    """How many slots slow rounds may take at once."""
    return config.deferral.slow_lane.rounds if config.deferral.policy == "defer" else 0
