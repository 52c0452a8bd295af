"""The JSON schema of scenario files for editors: that of the model, with the configuration of programs in its places.

The model takes any mapping there and asks the program that is to be configured. All programs of the kit have one
configuration model; a kind from another package may have another, so unknown sections are open, and their keys are not.
"""

from typing import Any

from devkit.scenario.model import Scenario
from located_config.schema import AsWritten
from pipeline.config.pipeline_config import PipelineConfig

Schema = dict[str, Any]
_NAME = "Configuration"
_REFERENCE = {"$ref": f"#/$defs/{_NAME}"}
_ANYTHING = {"additionalProperties": True, "type": "object"}


def scenario_schema() -> Schema:
    """By the names under which a file has its keys."""
    schema: Schema = Scenario.model_json_schema(by_alias=True, mode="validation", schema_generator=AsWritten)
    configuration = PipelineConfig.model_json_schema(
        by_alias=True, mode="validation", schema_generator=AsWritten, ref_template=f"#/$defs/{_NAME}.{{model}}"
    )
    parts = configuration.pop("$defs")
    configuration |= {"additionalProperties": True, "description": "Configuration of a program, as far as it is given."}
    arm_schema = schema["$defs"]["ArmSettings"]
    arm_schema["properties"] = configuration["properties"] | arm_schema["properties"]
    for arm in schema["properties"]["arms"]["patternProperties"].values():
        arm["anyOf"].remove(_ANYTHING)
    placed: Schema = _place_configuration(schema)
    definitions = {_NAME: configuration} | {f"{_NAME}.{name}": part for name, part in parts.items()}
    placed["$defs"] |= {name: _drop_required(definition) for name, definition in definitions.items()}
    return placed


def _place_configuration(node: Any) -> Any:
    """With the configuration wherever a mapping of any keys may stand."""
    if node == _ANYTHING:
        return _REFERENCE
    if isinstance(node, dict):
        return {key: _place_configuration(value) for key, value in node.items()}
    return [_place_configuration(item) for item in node] if isinstance(node, list) else node


def _drop_required(node: Any) -> Any:
    """Nothing is required: a file says what it has otherwise, and the stack gives the rest."""
    if isinstance(node, dict):
        return {
            key: _drop_required(value) for key, value in node.items() if not (key == "required" and _is_list(value))
        }
    return [_drop_required(item) for item in node] if isinstance(node, list) else node


def _is_list(value: Any) -> bool:
    """A key of that name would have a mapping."""
    return isinstance(value, list)
