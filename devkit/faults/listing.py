"""The description of a fault for a person, made from its model."""

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from devkit.faults.fault import Fault
from devkit.stack.parts.part import TRIPLE_STORE, part_names
from located_config.parameter import Parameter, parameters_of
from located_config.schema import AsWritten

_BROKER, *_OTHER_PARTS = part_names()
_BROKERS = part_names(3)[: -len(_OTHER_PARTS)]
PARTS: Final = f"{_BROKER} (of three brokers {' or '.join(_BROKERS)}), {' or '.join(_OTHER_PARTS)}, or {TRIPLE_STORE}"
_WIDTH: Final = 100
# What the name of something may be is in no schema.
_NAMES: Final = {"part": PARTS, "topic": "source, output, error or deferred of the arm, or a topic's name"}


def in_short(fault: type[Fault]) -> str:
    """Three lines: its name and what it does, what it takes (a `?` where it need not be), an example."""
    takes = (
        ", ".join(f"{parameter.name}{'' if parameter.required else '?'}" for parameter in parameters(fault))
        or "nothing"
    )
    return f"  {fault.name}  {fault.summary}\n    takes  {takes}\n    {example(fault)}"


def in_full(fault: type[Fault]) -> str:
    """The description with the values and the meaning of each parameter."""
    takes = list(parameters(fault))
    width = max((len(parameter.name) for parameter in takes), default=0)
    lines = _wrapped(fault.name, fault.summary, indent=2)
    for parameter in takes:
        need = " (required)" if parameter.required else f" (default: {parameter.default})" if parameter.default else ""
        lines += _wrapped(f"  {parameter.name:{width}}", f"{parameter.form}{need}", indent=width + 4)
        lines += _wrapped(" " * (width + 2), parameter.description, indent=width + 4) if parameter.description else []
    return "\n".join([*lines, f"  {example(fault)}"])


def example(fault: type[Fault]) -> str:
    """The YAML that stands behind `do:`."""
    return f"{{{fault.name}: {fault.example}}}"


def parameters(fault: type[Fault]) -> Iterator[Parameter]:
    """The parameters that may be written under its name, in the order of its model."""
    schema = fault.model_json_schema(by_alias=True, schema_generator=AsWritten)
    for parameter in parameters_of(schema, schema.get("$defs", {})):
        known_form = _NAMES.get(parameter.name) if parameter.form == "text" else None
        yield replace(parameter, form=known_form) if known_form else parameter


def _wrapped(name: str, text: str, *, indent: int) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=f"{name}  ", subsequent_indent=" " * indent, break_on_hyphens=False
    )
