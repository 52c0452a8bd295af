"""Where in a document a value stands: by its keys, `mock.rules[0].when`, and by line and column."""

from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

Location = tuple[int | str, ...]


def shown(location: Location) -> str:
    """As people read it: `mock.rules[0].when`; empty for the document itself."""
    text = ""
    for step in location:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def position(document: Any, location: Location) -> tuple[int, int]:
    """Line and column, from 1, of the innermost part of the document that the location reaches."""
    place = (0, 0)
    for step in location:
        if isinstance(document, CommentedMap) and step in document:
            if step not in (document.lc.data or ()):
                break  # it came with a merge key, `<<: *other`, so it stands elsewhere
            place = document.lc.key(step)
        elif isinstance(document, CommentedSeq) and isinstance(step, int) and step < len(document):
            place = document.lc.item(step)
        else:
            break
        document = document[step]
    return place[0] + 1, place[1] + 1


def reaches(document: Any, location: Location) -> int:
    """How many steps of the location exist in the document."""
    for taken, step in enumerate(location):
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return taken
    return len(location)
