"""A number with its noun: `1 fault`, `2 faults`, `1,024 requests`, `1 entry`."""


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """`plural` where it is not the noun with an `s`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def times(count: int) -> str:
    """`once`, `twice`, `3 times`."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
