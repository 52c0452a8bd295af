"""What a process printed, as it stands in its file: tests of the log do not read it through the kit's classes."""

import json
from pathlib import Path
from typing import Any


def json_lines(file: Path) -> list[dict[str, Any]]:
    """The whole lines that are JSON objects with an `event`."""
    whole, _, _ = file.read_text(errors="replace").rpartition("\n")
    return [line for text in whole.splitlines() if (line := _event(text)) is not None]


def _event(text: str) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) and "event" in line else None
