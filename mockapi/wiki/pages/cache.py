"""A cache bounded in bytes that forgets what was used least recently."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

ENTRY_BYTES: Final = 256
"""What an entry is taken to occupy beside its bytes, so that empty ones are bounded too."""

Value = TypeVar("Value")


class ByteLru(Generic[Value]):
    """Holds values of at most `capacity_bytes` together; a value larger than that is not kept at all."""

    def __init__(self, capacity_bytes: int) -> None:
        self._capacity_bytes = capacity_bytes
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self.held_bytes = 0

    def get(self, key: Hashable) -> Value | None:
        """None for a value that was never kept or had to go; the one found counts as used last."""
        found = self._values.get(key)
        if found is None:
            return None
        self._values.move_to_end(key)
        return found[0]

    def put(self, key: Hashable, value: Value, size_bytes: int) -> None:
        """Keeps `value`, at the expense of what was not used for longest."""
        weight = size_bytes + ENTRY_BYTES
        if weight > self._capacity_bytes:
            return
        _, replaced = self._values.pop(key, (None, 0))
        self.held_bytes += weight - replaced
        self._values[key] = (value, weight)
        while self.held_bytes > self._capacity_bytes:
            _, (_, dropped) = self._values.popitem(last=False)
            self.held_bytes -= dropped
