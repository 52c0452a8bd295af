"""The base of what people write into catalogs, rules and states."""

from pydantic import BaseModel, BeforeValidator, ConfigDict


class Strict(BaseModel):
    """Frozen; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def spelled_out(key: str, forms: object) -> BeforeValidator:
    """Turns a short form into the long one under `key`; a mapping, a model and None stay as they are.

    `forms` is the type of all that may be written, for the JSON schema.
    """
    return BeforeValidator(
        lambda value: value if value is None or isinstance(value, dict | Strict) else {key: value},
        json_schema_input_type=forms,
    )
