"""Where clients of a part are told to find it: at its own address, or at that of a proxy before it."""

from collections.abc import Callable

Lead = Callable[[str, str], str]
"""From a part's name and its own address (`host:port`) to the address that its clients are told."""


def straight(_part: str, address: str) -> str:
    """No proxy stands before it."""
    return address
