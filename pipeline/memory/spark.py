"""A memory plan in Spark's own settings, and whether Spark's other settings agree with it."""

import re
from collections.abc import Iterator, Mapping

from pipeline.config.pipeline_config import MIB, PipelineConfig
from pipeline.driver.spark_conf import Given
from pipeline.driver.spark_slots import is_local
from pipeline.errors import RefusedError
from pipeline.memory.division import BESIDES_HEAP, COST_LEDGER, DRIVER, HEAP, MemoryPlan, Place

_LOCAL = re.compile(r"local(?:\[(\d+|\*)(?:,\d+)?\])?")
_SIZE = re.compile(r"(\d+)\s*(b|kb?|mb?|gb?|tb?)?", re.IGNORECASE)
_DRIVER_HEAP = HEAP + 128 * MIB
_UNITS = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def place_of(master: str) -> Place:
    """Whether Spark runs in this process, or in executors: of a cluster, or of `local-cluster[…]` on this machine."""
    return "local" if is_local(master) else "executor"


def slots_of(master: str) -> int | None:
    """The slots that a local master names; None when it leaves that to the machine, and for a cluster's."""
    match = _LOCAL.fullmatch(master)
    if match is None or match[1] == "*":
        return None
    return int(match[1]) if match[1] else 1


def spark_settings(plan: MemoryPlan, config: PipelineConfig) -> dict[str, str]:
    """The settings for a Spark that is not running yet."""
    if plan.place == "local":
        return {"spark.master": f"local[{plan.slots}]", "spark.driver.memory": _m(plan.heap)}
    # Not spark.executor.pyspark.memory: it limits a worker's address space, of which Arrow reserves more than it uses.
    return {
        "spark.executor.cores": str(plan.slots),
        "spark.executor.memory": _m(plan.heap),
        "spark.executor.memoryOverhead": _m(plan.besides_heap + plan.state + plan.workers),
        "spark.driver.memory": _m(_DRIVER_HEAP),
        "spark.driver.memoryOverhead": _m(driver_memory(config) - _DRIVER_HEAP),
    }


def driver_memory(config: PipelineConfig) -> int:
    """Bytes of the driver's container on a cluster."""
    return _DRIVER_HEAP + BESIDES_HEAP + DRIVER + COST_LEDGER * config.deferral.max_bytes


def require_agreement(plan: MemoryPlan, given: Mapping[str, Given], config: PipelineConfig) -> None:
    """Raises RefusedError when Spark's settings take more than the plan has for it, or have other slots."""
    wrong = list(_disagreements(plan, given, config))
    if wrong:
        raise RefusedError("\n".join(wrong), hint="remove it there: --memory-limit and --slots set it")


def _disagreements(plan: MemoryPlan, given: Mapping[str, Given], config: PipelineConfig) -> Iterator[str]:
    for key, derived in spark_settings(plan, config).items():
        if key not in given:
            continue
        setting = given[key]
        if key == "spark.executor.cores" and setting.value != derived:
            yield f"{key} is {setting.value} ({setting.where}), and --slots {derived}"
        elif key.endswith(("memory", "memoryOverhead")):
            size = spark_size(setting.value)
            if size is None:
                yield f"{key} is {setting.value!r} ({setting.where}), which is no size of Spark's, like 1g or 512m"
            elif size > (spark_size(derived) or 0):
                yield f"{key} is {setting.value} ({setting.where}), and the limit leaves {derived} for it"


def spark_size(text: str) -> int | None:
    """Bytes of `1g`, `512m` or, in MiB, `512`; None when it is none."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return None
    return int(match[1]) * _UNITS[(match[2] or "m")[0].lower()]


def _m(size: int) -> str:
    return f"{-(-size // MIB)}m"
