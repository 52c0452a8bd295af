"""A cache bounded in bytes that forgets what was used least recently."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    """What the cache holds: anything that knows the bytes it occupies."""

    def __len__(self) -> int: ...


Value = TypeVar("Value", bound=Sized)


class ByteLru(Generic[Value]):
    """Holds values of at most `capacity_bytes` together; a value larger than that is not kept at all."""

    def __init__(self, capacity_bytes: int) -> None:
        self._capacity_bytes = capacity_bytes
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self.held_bytes = 0

    def get(self, key: Hashable) -> Value | None:
        """The value, which counts as used now."""
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def put(self, key: Hashable, value: Value) -> None:
        """Keeps `value`, at the expense of what was not used for longest."""
        if len(value) > self._capacity_bytes:
            return
        replaced = self._values.pop(key, None)
        self.held_bytes += len(value) - (len(replaced) if replaced is not None else 0)
        self._values[key] = value
        while self.held_bytes > self._capacity_bytes:
            _, dropped = self._values.popitem(last=False)
            self.held_bytes -= len(dropped)
