"""`audit.jsonl`: every event with the wrong outcome; the audit's examples are a few of them.

One JSON object a line: `{"problem": "lost", "topic": …, "partition": …, "offset": …, "event": …, "page": …}`. An event
with several problems has a line for each.
"""

from collections.abc import Collection
from pathlib import Path

import orjson

from devkit.observe.audit.source_event import SourceEvent

FILE = "audit.jsonl"
WrongOutcome = tuple[str, SourceEvent]
"""A problem, by its name in the audit's figures, and an event that has it."""


def write_wrong_outcomes(outcomes: Collection[WrongOutcome], path: Path) -> None:
    """Replaces the file; writes none without outcomes. Id and page are null where the event does not name them."""
    if not outcomes:
        return
    with path.open("wb") as file:
        for problem, event in outcomes:
            place = dict(zip(("topic", "partition", "offset"), event.position, strict=True))
            line = {"problem": problem, **place, "event": event.event_id, "page": event.page}
            file.write(orjson.dumps(line) + b"\n")
