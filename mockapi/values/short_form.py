"""Short forms: `status: 504` is `status: {code: 504}`, `size: 20MiB` is `size: {fixed: 20MiB}`."""

from pydantic import BeforeValidator

from mockapi.values.strict import Strict


def spelled_out(key: str, forms: object) -> BeforeValidator:
    """Turns a short form into the long one under `key`; a mapping, a model and None stay as they are.

    `forms` is the type of all that may be written, for the JSON schema.
    """
    return BeforeValidator(
        lambda value: value if value is None or isinstance(value, dict | Strict) else {key: value},
        json_schema_input_type=forms,
    )
