"""What is said of a fault to a person, made from its model."""

from collections.abc import Iterator
from typing import Any

from devkit.faults.fault import Fault

_UNIONS = ("anyOf", "oneOf")


def described(fault: type[Fault]) -> str:
    """Three lines: its name and what it does, what it takes, an example."""
    takes = ", ".join(_parameters(fault)) or "nothing"
    return f"  {fault.name}  {fault.summary}\n    takes  {takes}\n    {example(fault)}"


def example(fault: type[Fault]) -> str:
    """As it stands behind `do:`."""
    return f"{{{fault.name}: {fault.example}}}"


def _parameters(fault: type[Fault]) -> Iterator[str]:
    schema = fault.model_json_schema(by_alias=True)
    for name, about in schema.get("properties", {}).items():
        values = "|".join(map(str, _values(about, schema.get("$defs", {}))))
        optional = "" if name in schema.get("required", ()) else "?"
        yield f"{name}{optional}{f' ({values})' if values else ''}"


def _values(about: dict[str, Any], definitions: dict[str, Any]) -> list[Any]:
    """The values that it may have, where they are few."""
    if "enum" in about:
        return list(about["enum"])
    if "$ref" in about:
        return _values(definitions[about["$ref"].rpartition("/")[2]], definitions)
    return [value for key in _UNIONS for one in about.get(key, ()) for value in _values(one, definitions)]
