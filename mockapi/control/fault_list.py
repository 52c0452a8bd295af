"""What a rule can do, fault by fault: for `/__mock/faults` and for `mockapi faults`."""

from dataclasses import dataclass
from typing import Any, Final

from located_config.flow import flow
from located_config.parameter import Parameter, parameters_of
from located_config.schema import AsWritten
from located_config.words import Schema, forms, in_words
from mockapi.faults.fault import Fault
from mockapi.faults.registry import FAULTS
from mockapi.rules.model import Do

GROUPS: Final = {
    "latency": "Latency, by phase",
    "upstream": "The wiki's capacity",
    "proxy": "What stands in front of the wiki",
    "wiki": "The wiki's state",
    "body": "The body on the wire",
    "connection": "The connection",
}


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
    parameters: tuple[Parameter, ...]
    example: object


def described() -> tuple[FaultDescription, ...]:
    """In the order of `GROUPS`, and within a group in that of the registry."""
    schema = Do.model_json_schema(by_alias=True, schema_generator=AsWritten)
    order = list(GROUPS)
    faults = sorted(FAULTS.values(), key=lambda fault: order.index(fault.group))
    return tuple(_description(fault, schema) for fault in faults)


def _description(fault: Fault[Any], schema: Schema) -> FaultDescription:
    definitions: Schema = schema.get("$defs", {})
    models = [form for form in forms(schema["properties"][fault.name], definitions) if "properties" in form]
    parameters = {parameter.name: parameter for model in models for parameter in parameters_of(model, definitions)}
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
