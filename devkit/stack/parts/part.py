"""A part of a stack as something that can be acted on: where it answers, what runs it, and its levers.

A lever does one thing and returns when that is done: a paused part has stopped, a killed one is gone, a resumed or
restarted one answers again, and so does one whose data was copied or restored. `refusal` says beforehand which levers a
backend does not have.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal, Protocol, get_args

from devkit.errors import UsageError
from devkit.stack.parts.part_life import Life

Lever = Literal["pause", "resume", "kill", "restart", "copy", "restore"]
LEVERS: tuple[Lever, ...] = get_args(Lever)

TRIPLE_STORE: Final = "triple-store"
_NO_DATA: Final = "the kit copies the data of the triple store alone"
NOT_COPIED: Mapping[Lever, str] = MappingProxyType({"copy": _NO_DATA, "restore": _NO_DATA})
"""The levers that a part without data to copy refuses."""

Lead = Callable[[str, str], str]
"""From a part's name and its own address (`host:port`) to the address that its clients get: the same, or that of a
proxy before it.
"""


def unproxied(_part: str, address: str) -> str:
    """No proxy stands before the part."""
    return address


def restore_nothing() -> None:
    """For parts that have on disk what they need after a restart, as most do."""


def part_names(brokers: int = 1, *, triple_store: bool = False) -> tuple[str, ...]:
    """The parts of a stack. One broker is `kafka`; of several each is a part. A triple store is there if asked for."""
    broker_names = ("kafka",) if brokers == 1 else tuple(f"kafka-{number}" for number in range(1, brokers + 1))
    return (*broker_names, "object-store", "mock-api", *((TRIPLE_STORE,) if triple_store else ()))


class Part(Protocol):
    """`address` is where clients reach it.

    `restart` ends a part that lives by SIGTERM, and starts one that is dead. `copy` does the same and keeps a copy of
    its data in between; `restore` starts it with that copy.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in a scenario's `timeline` and on the command line: `kafka`, `object-store`, `mock-api`,
        `triple-store`.
        """

    @property
    @abstractmethod
    def address(self) -> str:
        """`host:port` of a broker, and of all others a URL; through the proxy, where one stands before it."""

    @property
    @abstractmethod
    def life(self) -> Life:
        """The life of its process or container; a restarted part has a new one."""

    @abstractmethod
    def refusal(self, lever: Lever) -> str | None:
        """Why this lever cannot be pulled here, None when it can; asking does nothing."""

    @abstractmethod
    def pull(self, lever: Lever) -> None:
        """Raises UsageError for a lever that is refused, StackError when the part does not do it."""

    @property
    def levers(self) -> frozenset[Lever]:
        """The levers that are not refused."""
        return frozenset(lever for lever in LEVERS if self.refusal(lever) is None)

    def require(self, lever: Lever) -> None:
        """Raises UsageError with the reason when the lever is refused."""
        if reason := self.refusal(lever):
            raise UsageError(f"`{lever}` cannot be done to {self.name}: {reason}")
