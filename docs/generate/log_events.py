"""The events that a pipeline process logs."""

import inspect
from collections.abc import Iterator

from pydantic import TypeAdapter

from docs.generate.field_docs import field_docs
from docs.generate.markdown import code, in_a_cell, page, prose, table
from located_config.flow import flow
from located_config.words import Schema, in_words
from pipeline.events import EVENT_CLASSES, OF_WORKERS

_INTRODUCTION = """\
A pipeline process writes JSON lines to standard output. Each has the time (`at`, RFC 3339 in UTC), the name of the
event (`event`) and the fields below. A field that has a default may be absent. The kit reads these lines, so
[your own program](../own-pipeline.md) can report the same figures by writing the same events.

A Python worker writes its lines to the standard error of its executor, which with `local[N]` is the job's own. There
the kit reads the events that only workers write: {of_workers}. Of `wikis_file_read` and `wikis_file_unusable` it reads
only the driver's lines, not those of workers."""


def log_events() -> str:
    """Every event, in the order in which `pipeline.events` declares them."""
    *names, last = map(code, sorted(OF_WORKERS))
    introduction = _INTRODUCTION.replace("{of_workers}", f"{', '.join(names)} and {last}")
    return page("Log events", introduction, *(event_section(name, event) for name, event in EVENT_CLASSES.items()))


def event_section(name: str, event: type) -> str:
    """A heading, what the event means, and a table of its fields."""
    rows = table(("field", "what it says", "value", "default"), _fields(event))
    return "\n\n".join([f"## {name}", prose(inspect.cleandoc(event.__doc__ or "")), *([rows] if rows else [])])


def _fields(event: type) -> Iterator[tuple[str, str, str, str]]:
    schema: Schema = TypeAdapter(event).json_schema()
    required = schema.get("required", ())
    texts = field_docs(event)
    for name, value in schema["properties"].items():
        if name == "event":
            continue
        default = "" if name in required else _default(value.get("default"))
        words = in_words(value, schema.get("$defs", {}))
        yield code(name), in_a_cell(texts.get(name, "")), words, default


def _default(value: object) -> str:
    if value is None:
        return "absent"
    return code(flow(value)) if value not in ("", {}, []) else "empty"
