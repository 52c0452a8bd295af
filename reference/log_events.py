"""The events that a pipeline process logs."""

from collections.abc import Iterator

from pydantic import TypeAdapter

from located_config.words import Schema, in_words
from pipeline.events import EVENT_CLASSES, Event
from reference.markdown import code, page, prose, table

_INTRODUCTION = """\
A pipeline process writes JSON lines to standard output. Each has the time (`at`, RFC 3339 in UTC), the name of the
event (`event`) and the fields below. A field that has a default may be absent. The kit reads these lines, so
[a program of your own](../own-pipeline.md) that writes the same events shows the same things."""


def log_events() -> str:
    """Every event, in the order in which `pipeline.events` declares them."""
    return page("Log events", _INTRODUCTION, *(_section(name, event) for name, event in EVENT_CLASSES.items()))


def _section(name: str, event: type[Event]) -> str:
    rows = table(("field", "value", "default"), _fields(event))
    return "\n\n".join([f"## {name}", prose(event.__doc__ or ""), *([rows] if rows else [])])


def _fields(event: type[Event]) -> Iterator[tuple[str, str, str]]:
    schema: Schema = TypeAdapter(event).json_schema()
    required = schema.get("required", ())
    for name, value in schema["properties"].items():
        if name == "event":
            continue
        default = "" if name in required else "absent" if value.get("default") is None else code(str(value["default"]))
        yield code(name), in_words(value, schema.get("$defs", {})), default
