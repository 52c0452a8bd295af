"""Checks for settings that Spark does not know, and executors that their container cannot hold."""

from collections.abc import Iterator

from devkit.programs.spark.known_settings import known_settings
from devkit.scenario.resolve import ResolvedArm, ResolvedProgram, ResolvedScenario
from located_config.place import Location
from located_config.problem import Problem
from located_config.size import format_size
from pipeline.driver.spark_conf import unknown_keys
from pipeline.memory.spark import spark_size

_EXECUTOR_MEMORY = "spark.executor.memory"


def check_spark(resolved: ResolvedScenario) -> Iterator[Problem]:
    """Problems of Spark's settings. An arm that may refuse its start may have unknown ones."""
    for arm in resolved.arms.values():
        for program in arm.programs.values():
            if not program.program.runs_on_spark:
                continue
            if not (program is arm.main and resolved.scenario.may_refuse(arm.name)):
                yield from _check_keys(program)
            yield from _check_executors(arm, program)


def _check_keys(program: ResolvedProgram) -> Iterator[Problem]:
    for key, near in unknown_keys(program.launch.spark, known_settings()):
        if near is not None:
            place = _place_of(program, key)
            yield Problem(place, f"unknown to Spark, which would ignore it; did you mean {near!r}?")


def _check_executors(arm: ResolvedArm, program: ResolvedProgram) -> Iterator[Problem]:
    container, settings = arm.scenario.container, program.launch
    heap = spark_size(settings.spark.get(_EXECUTOR_MEMORY, "0"))
    if not (container and container.memory and settings.executors and heap):
        return
    if (total := settings.executors * heap) > container.memory:
        yield Problem(
            _place_of(program, _EXECUTOR_MEMORY),
            f"{settings.executors} executors take {format_size(total)}, and the container has "
            f"{format_size(container.memory)}",
            "lower it, or raise container.memory",
        )


def _place_of(program: ResolvedProgram, key: str) -> Location:
    """The topmost place of the file with that setting of Spark."""
    return (*next(place for place, launch in program.launches.items() if key in launch.spark), "spark", key)
