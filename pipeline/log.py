"""What the process says of itself: one JSON object a line on standard output. Spark's own log is on standard error."""

import json
import sys
from datetime import UTC, datetime

Value = str | int | float | bool | None | list[str] | dict[str, object]


def say(event: str, **fields: Value) -> None:
    """Print one line, with the time in UTC."""
    line = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event} | fields
    sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
    sys.stdout.flush()
