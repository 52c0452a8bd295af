"""What is said of a fault to a person, made from its model."""

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from devkit.faults.fault import Fault
from devkit.stack.parts.part import part_names
from located_config.parameter import Parameter, parameters_of
from located_config.schema import AsWritten

_BROKER, *_OTHERS = part_names()
_BROKERS = part_names(3)[: -len(_OTHERS)]
PARTS: Final = f"{_BROKER} (of three brokers {' or '.join(_BROKERS)}), {' or '.join(_OTHERS)}"
_WIDTH: Final = 100
# What the name of something may be is in no schema.
_NAMES: Final = {"part": PARTS, "topic": "source, output or error of the arm, or a topic's name"}


def in_short(fault: type[Fault]) -> str:
    """Three lines: its name and what it does, what it takes (a `?` where it need not be), an example."""
    takes = ", ".join(f"{one.name}{'' if one.required else '?'}" for one in parameters(fault)) or "nothing"
    return f"  {fault.name}  {fault.summary}\n    takes  {takes}\n    {example(fault)}"


def in_full(fault: type[Fault]) -> str:
    """With what each parameter may be, and what it means."""
    takes = list(parameters(fault))
    width = max((len(one.name) for one in takes), default=0)
    lines = _wrapped(fault.name, fault.summary, indent=2)
    for one in takes:
        need = " (required)" if one.required else f" (default: {one.default})" if one.default else ""
        lines += _wrapped(f"  {one.name:{width}}", f"{one.form}{need}", indent=width + 4)
        lines += _wrapped(" " * (width + 2), one.description, indent=width + 4) if one.description else []
    return "\n".join([*lines, f"  {example(fault)}"])


def example(fault: type[Fault]) -> str:
    """As it stands behind `do:`."""
    return f"{{{fault.name}: {fault.example}}}"


def parameters(fault: type[Fault]) -> Iterator[Parameter]:
    """What a person may write under its name, in the order of its model."""
    schema = fault.model_json_schema(by_alias=True, schema_generator=AsWritten)
    for one in parameters_of(schema, schema.get("$defs", {})):
        yield replace(one, form=_NAMES.get(one.name, one.form)) if one.form == "text" else one


def _wrapped(name: str, text: str, *, indent: int) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=f"{name}  ", subsequent_indent=" " * indent)
