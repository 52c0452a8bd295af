"""Whether an event is valid by the schema that it names, as the producer itself would say."""

import orjson

from pipeline.schemas import validator_of

_MOST_CHARACTERS = 200


def not_as_named(value: bytes) -> str | None:
    """What is wrong with an event; None for nothing, and for one of a schema that the producer does not state."""
    try:
        event = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        return f"not JSON: {error}"
    named = event.get("$schema") if isinstance(event, dict) else None
    validator = validator_of(named) if isinstance(named, str) else None
    for violation in () if validator is None else validator.iter_errors(event):
        place = "/".join(map(str, violation.instance_path)) or "(top)"
        return f"not valid by {named} at {place}: {violation.message[:_MOST_CHARACTERS]}"
    return None
