"""What a rule can do, fault by fault: for `/__mock/faults` and for `mockapi faults`."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from located_config.schema import AsWritten
from located_config.words import Schema, forms, in_words
from mockapi.faults.fault import Fault
from mockapi.faults.registry import FAULTS
from mockapi.rules.do import Do

GROUPS: Final = {
    "latency": "Latency, by phase",
    "upstream": "The wiki's capacity",
    "proxy": "What stands in front of the wiki",
    "wiki": "The wiki's state",
    "body": "The body on the wire",
    "connection": "The connection",
}


@dataclass(frozen=True, slots=True)
class FaultParameter:
    """One key of a fault: what may stand there, in words, and whether it has to."""

    name: str
    form: str
    required: bool


@dataclass(frozen=True, slots=True)
class FaultDescription:
    """A fault for those who write rules. `form` is what may stand under its key; `deterministic` is whether what it
    does is a function of seed, rule, key and attempt alone.
    """

    name: str
    group: str
    summary: str
    deterministic: bool
    form: str
    parameters: tuple[FaultParameter, ...]
    example: object


def described() -> tuple[FaultDescription, ...]:
    """All faults, group by group."""
    schema = Do.model_json_schema(by_alias=True, schema_generator=AsWritten)
    order = list(GROUPS)
    faults = sorted(FAULTS.values(), key=lambda fault: order.index(fault.group))
    return tuple(_description(fault, schema) for fault in faults)


def _description(fault: Fault[Any], schema: Schema) -> FaultDescription:
    definitions: Schema = schema.get("$defs", {})
    models = [form for form in forms(schema["properties"][fault.name], definitions) if "properties" in form]
    parameters = {
        name: FaultParameter(name, in_words(value, definitions), name in model.get("required", ()))
        for model in models
        for name, value in model["properties"].items()
    }
    return FaultDescription(
        name=fault.name,
        group=fault.group,
        summary=fault.summary,
        deterministic=fault.deterministic,
        form=in_words(schema["properties"][fault.name], definitions),
        parameters=tuple(parameters.values()),
        example=fault.example,
    )


def rule_example(fault: FaultDescription) -> str:
    """The fault in a rule, as YAML on one line."""
    ttl = ", ttl: 30s" if fault.group == "connection" else ""
    return f"{{name: {fault.name}, do: {{{fault.name}: {flow(fault.example)}}}{ttl}}}"


def flow(value: object) -> str:
    """A value as YAML on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str) and re.fullmatch(r"[\w.%+/ -]+", value) and not value.startswith("-"):
        return value
    return json.dumps(value, ensure_ascii=False)
