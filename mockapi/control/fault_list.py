"""What a rule can do, fault by fault: for `/__mock/faults` and for `mockapi faults`."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from located_config.duration import DURATION_PATTERN
from located_config.rate import RATE_PATTERN
from located_config.schema import AsWritten
from located_config.share import SHARE_PATTERN
from located_config.size import SIZE_PATTERN
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

_QUANTITIES: Final = {DURATION_PATTERN: "time", RATE_PATTERN: "rate", SHARE_PATTERN: "share", SIZE_PATTERN: "size"}
# As which number each of them may be written too; who knows what a size is knows that.
_NUMBERS: Final = {"size": "whole number from 0", "share": "number from 0 to 1"}

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One key of a fault: what may stand there, in words, and whether it has to."""

    name: str
    form: str
    required: bool


@dataclass(frozen=True, slots=True)
class FaultDescription:
    """A fault for those who write rules. `form` is what may stand under its key; `promised` is whether what it does is
    a function of seed, rule, key and attempt alone.
    """

    name: str
    group: str
    summary: str
    promised: bool
    form: str
    parameters: tuple[Parameter, ...]
    example: object


def described() -> tuple[FaultDescription, ...]:
    """All faults, group by group."""
    schema = Do.model_json_schema(by_alias=True, schema_generator=AsWritten)
    order = list(GROUPS)
    faults = sorted(FAULTS.values(), key=lambda fault: order.index(fault.group))
    return tuple(_description(fault, schema) for fault in faults)


def _description(fault: Fault[Any], schema: Schema) -> FaultDescription:
    definitions: Schema = schema.get("$defs", {})
    forms = list(_forms(schema["properties"][fault.name], definitions))
    models = [form for form in forms if "properties" in form]
    parameters = {
        name: Parameter(name, _words(value, definitions), name in model.get("required", ()))
        for model in models
        for name, value in model["properties"].items()
    }
    return FaultDescription(
        name=fault.name,
        group=fault.group,
        summary=fault.summary,
        promised=fault.promised,
        form=_words(schema["properties"][fault.name], definitions),
        parameters=tuple(parameters.values()),
        example=fault.example,
    )


def _forms(schema: Schema, definitions: Schema) -> Iterator[Schema]:
    """What may stand at a place, `null` aside; references are followed."""
    if "$ref" in schema:
        yield from _forms(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    elif "anyOf" in schema or "oneOf" in schema:
        for choice in schema.get("anyOf") or schema["oneOf"]:
            yield from _forms(choice, definitions)
    elif schema.get("type") != "null":
        yield schema


def _words(schema: Schema, definitions: Schema) -> str:
    words = dict.fromkeys(_form_words(form, definitions) for form in _forms(schema, definitions))
    said = {number for quantity, number in _NUMBERS.items() if quantity in words}
    return " or ".join(word for word in words if word not in said) or "anything"


def _form_words(form: Schema, definitions: Schema) -> str:
    if "const" in form:
        return json.dumps(form["const"])
    if "enum" in form:
        return " or ".join(json.dumps(value) for value in form["enum"])
    if "properties" in form:
        return "{" + ", ".join(form["properties"]) + "}"
    match form.get("type"):
        case "string":
            return _QUANTITIES.get(form.get("pattern", ""), "text")
        case "integer":
            return f"whole number{_range(form)}"
        case "number":
            return f"number{_range(form)}"
        case "boolean":
            return "true or false"
        case "array":
            return f"list of {_words(form.get('items', {}), definitions)}"
        case "object":
            return "mapping"
    return "anything"


def _range(form: Schema) -> str:
    bounds = [
        f"{words} {form[key]}"
        for key, words in (
            ("minimum", "from"),
            ("exclusiveMinimum", "above"),
            ("maximum", "to"),
            ("exclusiveMaximum", "below"),
        )
        if key in form
    ]
    return f" {' '.join(bounds)}" if bounds else ""


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
