"""What is said of a fault to a person, made from its model."""

import textwrap
from collections.abc import Iterator
from typing import Final

from devkit.faults.fault import Fault
from devkit.stack.parts.names import part_names
from located_config.schema import AsWritten
from located_config.words import in_words

_BROKER, *_OTHERS = part_names()
_BROKERS = part_names(3)[: -len(_OTHERS)]
PARTS: Final = f"{_BROKER} (of three brokers {' or '.join(_BROKERS)}), {' or '.join(_OTHERS)}"
_WIDTH: Final = 100
# What the name of something may be is in no schema.
_NAMES: Final = {"part": PARTS, "topic": "source, output or error of the arm, or a topic's name"}


def in_short(fault: type[Fault]) -> str:
    """Three lines: its name and what it does, what it takes (a `?` where it need not be), an example."""
    takes = ", ".join(f"{name}{'' if required else '?'}" for name, _, required in _parameters(fault)) or "nothing"
    return f"  {fault.name}  {fault.summary}\n    takes  {takes}\n    {example(fault)}"


def in_full(fault: type[Fault]) -> str:
    """With what each parameter may be."""
    parameters = list(_parameters(fault))
    width = max((len(name) for name, _, _ in parameters), default=0)
    lines = _wrapped(fault.name, fault.summary, indent=2)
    for name, form, required in parameters:
        need = " (required)" if required else ""
        lines += _wrapped(f"  {name:{width}}", f"{form}{need}", indent=width + 4)
    return "\n".join([*lines, f"  {example(fault)}"])


def example(fault: type[Fault]) -> str:
    """As it stands behind `do:`."""
    return f"{{{fault.name}: {fault.example}}}"


def _parameters(fault: type[Fault]) -> Iterator[tuple[str, str, bool]]:
    """The name of each, what may stand there, and whether it has to."""
    schema = fault.model_json_schema(by_alias=True, schema_generator=AsWritten)
    for name, about in schema.get("properties", {}).items():
        form = in_words(about, schema.get("$defs", {}))
        yield name, _NAMES.get(name, form) if form == "text" else form, name in schema.get("required", ())


def _wrapped(name: str, text: str, *, indent: int) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=f"{name}  ", subsequent_indent=" " * indent)
