"""What may stand at a place of a model, in words made of its JSON schema: `duration`, `whole number from 1`."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from located_config.duration import DURATION_PATTERN
from located_config.rate import RATE_PATTERN
from located_config.share import SHARE_PATTERN
from located_config.size import SIZE_PATTERN

_QUANTITIES: Final = {DURATION_PATTERN: "duration", RATE_PATTERN: "rate", SHARE_PATTERN: "share", SIZE_PATTERN: "size"}
# As which number each of them may be written too; who knows what a size is knows that.
_NUMBERS: Final = {"size": "whole number from 0", "share": "number from 0 to 1"}

Schema = Mapping[str, Any]


def forms(schema: Schema, definitions: Schema) -> Iterator[Schema]:
    """What may stand at a place, `null` aside; references are followed."""
    if "$ref" in schema:
        yield from forms(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    elif "anyOf" in schema or "oneOf" in schema:
        for choice in schema.get("anyOf") or schema["oneOf"]:
            yield from forms(choice, definitions)
    elif schema.get("type") != "null":
        yield schema


def in_words(schema: Schema, definitions: Schema) -> str:
    """References are looked up in `definitions`, the schema's `$defs`."""
    words = dict.fromkeys(_form_words(form, definitions) for form in forms(schema, definitions))
    numbers = {number for quantity, number in _NUMBERS.items() if quantity in words}
    return " or ".join(word for word in words if word not in numbers) or "anything"


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
            return f"list of {in_words(form.get('items', {}), definitions)}"
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
