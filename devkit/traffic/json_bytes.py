"""JSON that is held for as long as a run lasts."""

from typing import Any

import orjson


def json_bytes(value: Any) -> bytes:
    """As orjson writes it, in no more memory than its length.

    What orjson returns keeps the buffer that it was written in, which is 4 KB for the key of an event.
    """
    return bytes(memoryview(orjson.dumps(value)))
