"""Where the story of an incident is told, when its reference says it."""

import re

_TASK = re.compile(r"T\d+")


def source_link(reference: str) -> str | None:
    """The reference itself when it is an address, the page of a task of Wikimedia's, and None for anything else."""
    if reference.startswith(("https://", "http://")):
        return reference
    return f"https://phabricator.wikimedia.org/{reference}" if _TASK.fullmatch(reference) else None
