"""A value as YAML on one line: `{code: 504, retry_after: 10s}`."""

import json
import re
from collections.abc import Mapping
from typing import Final

# A text that may stand without quotes, also in a mapping; numbers and dates may not.
_OTHER: Final = r"(?!\d[\d_]*\.?[\d_]*(?:[eE][-+]?\d*)?$|0[xo]|\d{4}-\d\d-\d\d)"
_PLAIN: Final = re.compile(_OTHER + r"[\w/](?:[\w.%+/@*()<>= -]|:(?! |$))*")
_OTHER_TYPES: Final = frozenset({"true", "false", "null"})


def flow(value: object) -> str:
    """Texts have quotes only where they need them; a float is written as short as it is exact to six digits."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) and _is_plain(value) else json.dumps(value, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    return bool(_PLAIN.fullmatch(text)) and text.lower() not in _OTHER_TYPES and text == text.strip()
