"""A memory plan for people, and for the log."""

from collections.abc import Iterator

from pipeline.config.pipeline_config import MIB, PipelineConfig
from pipeline.events import Memory
from pipeline.memory.division import MemoryPlan
from pipeline.memory.spark import spark_settings


def lines(plan: MemoryPlan, config: PipelineConfig) -> Iterator[str]:
    """What `pipeline memory` prints."""
    whose = "this process and its children" if plan.place == "local" else "an executor"
    rounds = f", {plan.rounds} of them for slow rounds" if plan.rounds else ""
    yield f"{_mib(plan.limit)} for {whose}, {plan.slots} slots{rounds}"
    yield ""
    row = "  {:<18} {:>9}  {}".format
    for part in plan.parts:
        yield row(part.what, _mib(part.size), part.why)
    yield row("remaining", _mib(plan.limit - plan.total), "")
    yield ""
    yield "The pipeline's settings:"
    for key, value in plan.settings.items():
        yield f"  {key}: {_mib(value).replace(' ', '')}"
    yield ""
    yield "Spark's settings, which `run` gives itself where it starts Spark:"
    for key, setting in spark_settings(plan, config).items():
        yield f"  --conf {key}={setting}"


def memory_event(plan: MemoryPlan) -> Memory:
    """For the log."""
    return Memory(
        limit={"bytes": plan.limit, "slots": plan.slots, "place": plan.place},
        parts={part.what: part.size for part in plan.parts},
        settings=plan.settings,
    )


def _mib(size: int) -> str:
    return f"{size // MIB} MiB"
