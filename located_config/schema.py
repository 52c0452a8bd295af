"""JSON schemas of models with quantities: a default stands there as people write it, `10s`, not as ISO 8601 has it."""

from datetime import timedelta
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from located_config.duration import format_duration


class AsWritten(GenerateJsonSchema):
    """The generator for `model_json_schema(schema_generator=…)`."""

    def encode_default(self, dft: Any) -> Any:
        """A default; a duration in its text form."""
        return format_duration(dft) if isinstance(dft, timedelta) else super().encode_default(dft)


def as_sentence(summary: str) -> str:
    """The line that a registry has of one of its entries, as the description of a key."""
    return f"{summary[0].upper()}{summary[1:]}."
