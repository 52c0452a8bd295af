"""The two ways that bytes go through a connection."""

from typing import Final, Literal

Direction = Literal["to_server", "to_client"]
DIRECTIONS: Final[tuple[Direction, Direction]] = ("to_server", "to_client")

Sense = Literal["to_server", "to_client", "both"]


def directions_of(sense: Sense) -> tuple[Direction, ...]:
    """One direction, or two for `both`."""
    return DIRECTIONS if sense == "both" else (sense,)
