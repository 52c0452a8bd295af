"""From `--memory-limit` and `--slots` to the settings of the job and its Spark.

Without a limit nothing is derived, and the configuration holds as it is; `--slots` alone sets the slots of a local
Spark.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.config.pipeline_config import MIB, PipelineConfig
from pipeline.driver.spark_conf import Given, master_of
from pipeline.errors import RefusedError
from pipeline.memory.division import MemoryPlan, applied, derive
from pipeline.memory.spark import place_of, require_agreement, slots_of, spark_settings

# The heap that the JVM reports lacks one of the collector's areas, or is rounded to its regions.
_ROUNDING = 32 * MIB


@dataclass(frozen=True, slots=True)
class Budget:
    """The job's configuration, settings for the Spark that this process starts, and those that others have given it;
    `plan` where there is a limit.
    """

    config: PipelineConfig
    spark: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, Given] = field(default_factory=dict)
    plan: MemoryPlan | None = None


def budget(
    config: PipelineConfig, submitted: Mapping[str, Given], *, limit: int | None = None, slots: int | None = None
) -> Budget:
    """`submitted` are Spark's settings from elsewhere. Raises RefusedError when they contradict the limit, or the limit
    is too small.
    """
    master = master_of(submitted)
    place = place_of(master)
    if limit is None:
        if slots is None:
            return Budget(config, given=submitted)
        if place == "executor":
            _require_cores(slots, submitted)
            return Budget(config, {"spark.executor.cores": str(slots)}, submitted)
        return Budget(config, {"spark.master": f"local[{slots}]"}, submitted)
    per_process = slots or (slots_of(master) if place == "local" else _cores(submitted))
    if per_process is None:
        raise RefusedError(
            f"--memory-limit is for a number of slots, and spark.master {master} leaves it to the machine",
            hint="state the number: --slots 4",
        )
    plan = derive(limit, per_process, config, place=place)
    require_agreement(plan, submitted, config)
    settings = spark_settings(plan, config)
    derived = {key: value for key, value in settings.items() if key == "spark.master" or key not in submitted}
    return Budget(applied(config, plan), derived, submitted, plan)


def require_heap(plan: MemoryPlan, heap_bytes: int) -> None:
    """`heap_bytes` is the most that the JVM takes, as it reports. Raises RefusedError when the plan has less."""
    if heap_bytes > plan.heap + _ROUNDING:
        raise RefusedError(
            f"the driver's JVM runs with a heap of up to {heap_bytes // MIB}MiB, and the limit leaves "
            f"{plan.heap // MIB}MiB for it",
            hint=f"start it so: spark-submit --driver-memory {plan.heap // MIB}m",
        )


def _cores(given: Mapping[str, Given]) -> int | None:
    setting = given.get("spark.executor.cores")
    return int(setting.value) if setting is not None and setting.value.isdecimal() else None


def _require_cores(slots: int, given: Mapping[str, Given]) -> None:
    setting = given.get("spark.executor.cores")
    if setting is not None and setting.value != str(slots):
        raise RefusedError(
            f"spark.executor.cores is {setting.value} ({setting.where}), and --slots {slots}", hint="remove one of them"
        )
