"""What the process says of itself: one JSON object a line on standard output. Spark's own log is on standard error.

A line that cannot be written is lost, and nothing else: who reads the log may go away or stand still, its disk may be
full, and no batch depends on that.
"""

import json
import sys
from datetime import UTC, datetime

from located_config.redaction import redacted, redacted_text
from pipeline.events import Event, LinesLost, fields_of
from pipeline.line_output import LineOutput

# For a reader that is slow; less than what a stop leaves for the end of a batch.
_PATIENCE_S = 5.0
_SAID, _TOLD = LineOutput(_PATIENCE_S), LineOutput(_PATIENCE_S)


def say(event: Event) -> None:
    """Print one line, with the time in UTC, without secrets."""
    if _is_said(event) and (lost := _SAID.take_lost()) and not _is_said(LinesLost(lines=lost)):
        _SAID.give_back(lost)


def _is_said(event: Event) -> bool:
    head = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event.event}
    line = head | redacted(fields_of(event))
    try:
        return _SAID.write(json.dumps(line, ensure_ascii=False), sys.stdout)
    except UnicodeEncodeError:
        return _SAID.write(json.dumps(line), sys.stdout)


def tell(text: str) -> None:
    """Print on standard error, for a person, without secrets."""
    _TOLD.write(redacted_text(text), sys.stderr)
