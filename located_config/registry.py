"""Named things of one kind: the project's own, and those that an extension adds.

A registry knows where each of the others was added: of a name that is taken both places are said.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Kind = Literal[
    "fault of the mock",
    "fault on a part",
    "expectation",
    "kind of program",
    "job",
    "truth of a job",
    "generator of events",
]
T = TypeVar("T")
_OWN = "one of the project's own"


@dataclass(frozen=True)
class Addition:
    """One thing that an extension added: by which module, and in which line (`my_fault.py:12`)."""

    kind: Kind
    name: str
    module: str
    place: str


class NameTakenError(ValueError):
    """Another thing of the kind has this name."""


_additions: list[Addition] = []


def additions(*kinds: Kind) -> tuple[Addition, ...]:
    """What was added in this process, of these kinds, or of all; the first first."""
    return tuple(one for one in _additions if not kinds or one.kind in kinds)


class Registry(Mapping[str, T], Generic[T]):
    """All things of a kind by name, the project's `own` first."""

    def __init__(self, kind: Kind, own: Mapping[str, T]) -> None:
        self.kind: Kind = kind
        self._by_name = dict(own)
        self._followers: list[Callable[..., None]] = []

    def add(self, name: str, value: T) -> None:
        """For a function `register` that an extension calls: its caller's line is where the thing was added.

        The same thing may be added twice. Raises NameTakenError, which names both places.
        """
        frame = inspect.currentframe()
        caller = frame.f_back.f_back if frame and frame.f_back else None
        place = f"{caller.f_code.co_filename}:{caller.f_lineno}" if caller else "?"
        if name in self._by_name:
            if self._by_name[name] is value:
                return
            raise NameTakenError(
                f"{place}: there is {self._a_kind} {name!r} already, {self._origin(name)}: give this one another name"
            )
        self._by_name[name] = value
        _additions.append(Addition(self.kind, name, caller.f_globals.get("__name__", "") if caller else "", place))
        for follower in self._followers:
            follower(value)

    def follow(self, take: Callable[..., None]) -> None:
        """Calls `take` with all values now, and with each that is added later."""
        take(*self._by_name.values())
        self._followers.append(take)

    @property
    def _a_kind(self) -> str:
        return f"{'an' if self.kind[0] in 'aeiou' else 'a'} {self.kind}"

    def _origin(self, name: str) -> str:
        added = (one.place for one in _additions if one.kind == self.kind and one.name == name)
        return next((f"added at {place}" for place in added), _OWN)

    def __getitem__(self, name: str) -> T:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)
