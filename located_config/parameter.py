"""The parameters of a model as a person is told of them, made from its JSON schema."""

from collections.abc import Iterator
from dataclasses import dataclass

from located_config.flow import flow
from located_config.words import Schema, in_words


@dataclass(frozen=True, slots=True)
class Parameter:
    """One key of a model. `form` is what may stand there, in words; `default` is YAML, empty where there is none."""

    name: str
    form: str
    required: bool
    default: str
    description: str


def parameters_of(model: Schema, definitions: Schema) -> Iterator[Parameter]:
    """Of the schema of one model; references are looked up in `definitions`, the whole schema's `$defs`."""
    required = model.get("required", ())
    for name, value in model.get("properties", {}).items():
        default = value.get("default")
        yield Parameter(
            name=name,
            form=in_words(value, definitions),
            required=name in required,
            default="" if default is None else flow(default),
            description=value.get("description", ""),
        )
