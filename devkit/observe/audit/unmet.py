"""`audit.jsonl`: every event that did not meet its fate, of which the audit's examples are a few.

One JSON object a line: `{"problem": "lost", "topic": …, "partition": …, "offset": …, "event": …, "page": …}`. An event
with several problems has a line for each.
"""

from collections.abc import Collection
from pathlib import Path

import orjson

from devkit.observe.audit.source_event import SourceEvent

FILE = "audit.jsonl"
Unmet = tuple[str, SourceEvent]
"""A problem, by its name in the audit's figures, and an event that has it."""


def write_unmet(found: Collection[Unmet], path: Path) -> None:
    """What the bytes of an event do not say is null. Replaces the file; writes none where nothing was found."""
    if not found:
        return
    with path.open("wb") as file:
        for problem, event in found:
            place = dict(zip(("topic", "partition", "offset"), event.position, strict=True))
            line = {"problem": problem, **place, "event": event.event_id, "page": event.page}
            file.write(orjson.dumps(line) + b"\n")
