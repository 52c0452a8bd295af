"""The value of a setting in reports."""

import json


def setting_text(value: object) -> str:
    """The value of a key as a file would have it; what is null or not there is not set."""
    if value is None:
        return "not set"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
