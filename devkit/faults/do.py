"""`do:` of a fault on a part: one mapping with one key, the fault's name; behind it its parameters."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import GetJsonSchemaHandler, PlainSerializer, PlainValidator, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError

from devkit.faults.fault import Fault
from devkit.faults.registry import FAULTS, unknown_fault
from located_config.model_keys import known_keys
from located_config.problem import as_error, described
from located_config.schema import as_sentence
from mockapi.rules.model import Rule


def parse_do(value: object) -> Fault:
    """Raises ValueError, of which each problem knows where in the mapping it stands."""
    if isinstance(value, Fault):
        return value
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError("must be a mapping with one key, the fault's name: {pause: {part: kafka}}")
    ((name, parameters),) = value.items()
    fault = FAULTS.get(str(name))
    if fault is None:
        raise _located(name, value, _unknown(str(name)))
    if isinstance(parameters, str) and "part" in fault.model_fields:
        text = f"must be a mapping of keys to values; write {{part: {parameters}}}"
        raise _located(name, value, text)
    try:
        return fault.model_validate({} if parameters is None else parameters)
    except ValidationError as error:
        raise ValidationError.from_exception_data(
            name, [_detail(fault, str(name), detail) for detail in error.errors()]
        ) from error


def _unknown(name: str) -> str:
    if name in known_keys(Rule, ("do",)):
        return f"{name!r} is a fault of the mock, and not of a part; it belongs into `do` of a rule under `mock.rules`"
    return unknown_fault(name)


def _located(name: object, value: object, text: str) -> ValidationError:
    problem = PydanticCustomError("value_error", "{text}", {"text": text})
    return ValidationError.from_exception_data("do", [InitErrorDetails(type=problem, loc=(str(name),), input=value)])


def _detail(fault: type[Fault], name: str, detail: ErrorDetails) -> InitErrorDetails:
    """The same problem below the fault's name."""
    return InitErrorDetails(type=as_error(described(detail, fault)), loc=(name, *detail["loc"]), input=detail["input"])


class _Schema:
    """For editors: one of the faults that are registered when the schema is written."""

    def __get_pydantic_json_schema__(self, _core: CoreSchema, _handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        properties = {}
        for name, fault in FAULTS.items():
            parameters = fault.model_json_schema(by_alias=True, ref_template=f"#/$defs/{name}_{{model}}")
            parameters.pop("$defs", None)
            properties[name] = parameters | {"title": name, "description": as_sentence(fault.summary)}
        return {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
            "properties": properties,
        }


def _as_written(fault: Fault) -> dict[str, Any]:
    return {fault.name: fault.model_dump(mode="json", by_alias=True, exclude_unset=True)}


if TYPE_CHECKING:
    Do = Fault
else:
    Do = Annotated[Fault, PlainValidator(parse_do), PlainSerializer(_as_written), _Schema()]
