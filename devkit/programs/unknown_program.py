"""The message for a program that the scenario does not name."""

from collections.abc import Collection

from located_config.near import near_miss


def unknown_program(name: str, programs: Collection[str]) -> str:
    """With the near miss, or all there are."""
    hint = near_miss(name, programs) if programs else "`programs` names none, and the only one needs no name"
    return f"there is no program {name!r}; {hint}"
