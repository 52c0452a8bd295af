"""Checks of `run: apply` against the programs beside it: what it reads is written, and means the same entities."""

from collections.abc import Iterator
from typing import Final

from devkit.programs.apply_program import ConfiguredApply
from devkit.scenario.resolve import ResolvedArm, ResolvedProgram, ResolvedScenario
from located_config.place import Location
from located_config.problem import Problem

_WRITER: Final = "rdf-resolve"


def check_followers(resolved: ResolvedScenario) -> Iterator[Problem]:
    """A topic that no program writes, another base of the entities' IRIs, and more than one graph."""
    for arm in resolved.arms.values():
        graphs = dict[str | None, str]()
        for name, program in arm.programs.items():
            if not isinstance(program.if_valid, ConfiguredApply):
                continue
            config = program.if_valid.apply_config
            yield from _check_source(arm, program, config.source.topic)
            yield from _check_concept_base(arm, program, config.source.topic, config.apply.concept_base)
            other = next((other for graph, other in graphs.items() if graph != config.apply.graph), None)
            if other is not None:
                text = f"program {other} writes to another graph, and only one is compared with the expected triples"
                yield Problem(_place(program, "apply", "graph"), text, "give both the same graph")
            graphs[config.apply.graph] = name


def _check_source(arm: ResolvedArm, program: ResolvedProgram, topic: str) -> Iterator[Problem]:
    others = [other for name, other in arm.programs.items() if name != program.name]
    configured = [other.if_valid for other in others]
    outputs = {it.topics.output: it for it in configured if it is not None and not isinstance(it, ConfiguredApply)}
    if topic in outputs or None in configured:
        return
    wanted = next((name for name, it in outputs.items() if it.config and it.config.job == _WRITER), None)
    remedy = f"write source.topic: {wanted}" if wanted else f"add a program with `run: pipeline {_WRITER}`"
    yield Problem(
        _place(program, "source", "topic"), f"no program of arm {arm.name} writes to {topic!r}, which it reads", remedy
    )


def _check_concept_base(arm: ResolvedArm, program: ResolvedProgram, topic: str, base: str) -> Iterator[Problem]:
    for other in arm.programs.values():
        config = other.if_valid.config if other.if_valid else None
        if config is not None and config.sink.topic == topic and config.rdf.concept_base != base:
            written = config.rdf.concept_base
            yield Problem(
                _place(program, "apply", "concept_base"),
                f"{base} is not that of program {other.name}, whose rdf.concept_base is {written}",
                f"write {written} here, or {base} there",
            )


def _place(program: ResolvedProgram, *key: str) -> Location:
    return (*program.sections[-1], *key)
