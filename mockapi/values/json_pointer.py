"""Places in a JSON document, as RFC 6901 writes them: `/source/title`, `/items/0`; `~1` is a slash, `~0` a tilde."""

import re
from typing import Final

_FORM: Final = re.compile(r"(?:/(?:[^~/]|~[01])*)+")
_INDEX: Final = re.compile(r"0|[1-9][0-9]*")


def check_pointer(text: str) -> None:
    """Raises ValueError for what points to no place within a document."""
    if not text.startswith("/"):
        raise ValueError("it does not begin with a slash")
    if _FORM.fullmatch(text) is None:
        raise ValueError("a tilde is written ~0")


def value_at(document: object, pointer: str) -> object:
    """The value at a pointer that `check_pointer` accepts. Raises LookupError where there is none."""
    value = document
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value[name]
        elif isinstance(value, list) and _INDEX.fullmatch(name):
            value = value[int(name)]
        else:
            raise KeyError(name)
    return value
