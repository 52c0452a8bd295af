"""Who is connected to the wiki: how many connections came, and which of them have a place at a gateway with few.

    first request ──> place ── connection closed, and no parse of it under way ──> free

A connection belongs to the mock and outlives a world; each world counts those that it gets a request on.
"""

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol


class Connection(Protocol):
    """What carries requests."""

    def when_lost(self, ended: Callable[[], None]) -> None:
        """Calls it once, when the connection has ended."""


@dataclass(frozen=True, kw_only=True)
class ConnectionCounts:
    """`opened` carried a request to the wiki, the `refused` among these were reset for want of a place; `held` places
    are taken now.
    """

    opened: int
    refused: int
    held: int


class ConnectionPlace:
    """Of one connection. `free` is called once."""

    __slots__ = ("_connected", "_free", "_parses")

    def __init__(self, free: Callable[[], object]) -> None:
        self._free = free
        self._connected = True
        self._parses = 0

    def parse_begins(self) -> None:
        """One more parse keeps it."""
        self._parses += 1

    def parse_ended(self) -> None:
        """It is over, whether its client still waits or not."""
        self._parses -= 1
        self._free_if_unused()

    def disconnected(self) -> None:
        """The connection has ended."""
        self._connected = False
        self._free_if_unused()

    def _free_if_unused(self) -> None:
        if not self._connected and not self._parses:
            self._free()


class ConnectionPlaces:
    """Those of one world, by the rule that bounds them."""

    def __init__(self) -> None:
        self._known: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._held: dict[tuple[str, Connection], ConnectionPlace] = {}
        self._opened = self._refused = 0

    def note_request(self, connection: Connection) -> None:
        """It carries a request; counted the first time."""
        if connection not in self._known:
            self._known.add(connection)
            self._opened += 1

    def take(self, rule: str, at_most: int, connection: Connection) -> ConnectionPlace | None:
        """The connection's place; None where it has none and none is free."""
        key = (rule, connection)
        if (place := self._held.get(key)) is not None:
            return place
        if sum(held == rule for held, _ in self._held) >= at_most:
            self._refused += 1
            return None
        place = self._held[key] = ConnectionPlace(partial(self._held.pop, key))
        connection.when_lost(place.disconnected)
        return place

    def forget(self) -> None:
        """Counts anew; connections that are there are counted again with their next request, and keep their places."""
        self._known.clear()
        self._opened = self._refused = 0

    def counts(self) -> ConnectionCounts:
        """As of now."""
        return ConnectionCounts(opened=self._opened, refused=self._refused, held=len(self._held))
