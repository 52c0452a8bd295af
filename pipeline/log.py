"""What the process says of itself: one JSON object a line on standard output. Spark's own log is on standard error.

A line that cannot be written is lost, and nothing else: who reads the log may go away, its disk may be full, and no
batch depends on that.
"""

import json
import os
import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import TextIO

from located_config.redaction import redacted, redacted_text
from pipeline.events import Event, fields_of


def say(event: Event) -> None:
    """Print one line, with the time in UTC, without secrets."""
    head = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event.event}
    line = head | redacted(fields_of(event))
    try:
        _print(json.dumps(line, ensure_ascii=False), sys.stdout)
    except UnicodeEncodeError:
        _print(json.dumps(line), sys.stdout)


def tell(text: str) -> None:
    """Print on standard error, for a person, without secrets."""
    _print(redacted_text(text), sys.stderr)


def _print(text: str, to: TextIO | None) -> None:
    """Raises UnicodeEncodeError, and nothing when it cannot be written. There is no `to` where it was closed before."""
    if to is None or to.closed:
        return
    try:
        to.write(text + "\n")
        to.flush()
    except BrokenPipeError:
        # Else what it still holds would fail once more when Python ends, and make another exit code of it.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), to.fileno())
    except OSError:
        pass
