"""Parts and faults of values: a test decides what they do, and sees what was done to them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

from devkit.errors import StackError
from devkit.faults.fault import Acting, Context, Fault, Need, Proof, Undo
from devkit.stack.parts.part import LEVERS, Lever, Part
from tests.unit.devkit.stack.fakes import FakeProcess


@dataclass
class FakeLife(FakeProcess):
    pid: int | None = 1
    container: str | None = None


@dataclass
class FakePart:
    """Every lever works, but those in `refused`; a restart gives it a new life."""

    name: str = "kafka"
    address: str = "127.0.0.1:1"
    life: FakeLife = field(default_factory=FakeLife)
    refused: dict[Lever, str] = field(default_factory=dict)
    pulled: list[Lever] = field(default_factory=list)
    breaks: frozenset[Lever] = frozenset()

    @property
    def levers(self) -> frozenset[Lever]:
        return frozenset(lever for lever in LEVERS if lever not in self.refused)

    def refusal(self, lever: Lever) -> str | None:
        return self.refused.get(lever)

    def require(self, lever: Lever) -> None:
        Part.require(self, lever)

    def pull(self, lever: Lever) -> None:
        self.pulled.append(lever)
        if lever in self.breaks:
            raise StackError(f"{self.name} did not {lever}")
        if lever == "kill":
            self.life.exit_code = -9
        if lever == "restart":
            self.life.exit_code = 0 if self.life.exit_code is None else self.life.exit_code
            self.life = FakeLife(self.name, pid=(self.life.pid or 0) + 1)


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


DONE: list[str] = []
"""What `Noted` faults did; a test that uses them clears it."""


class Noted(Fault):
    """Does nothing but note it. `fails` names a step at which it fails."""

    name: ClassVar[str] = "noted"
    summary: ClassVar[str] = "notes what is done with it"
    example: ClassVar[str] = "{part: kafka}"

    part: str = "kafka"
    fails: str = ""
    acts: bool = True
    irreversible: str = ""
    claimed: str = ""

    def claims(self, topics: Mapping[str, str]) -> frozenset[str]:
        return frozenset({topics.get(self.claimed, self.claimed)} - {""})

    def needs(self) -> tuple[Need, ...]:
        return (Need(self.part),)

    def begin(self, context: Context) -> Acting:
        context.plan(Undo(data={"part": self.part, "fails": self.fails}, irreversible=self.irreversible))
        DONE.append("began")
        if self.fails == "begin":
            raise StackError("the part refused")
        return _ActingNoted(self)

    @classmethod
    def undo(cls, undo: Undo) -> None:
        DONE.append(f"undone {undo.data['part']}")
        if undo.data["fails"] == "undo":
            raise StackError("it is still there")


class Brief(Noted):
    name: ClassVar[str] = "brief"
    lasts: ClassVar[bool] = False


@dataclass(frozen=True)
class _ActingNoted:
    fault: Noted

    def end(self) -> Proof:
        DONE.append("ended")
        if self.fault.fails in ("end", "undo"):
            raise StackError("the part is silent")
        return Proof(self.fault.acts, "it did" if self.fault.acts else "nothing was to be seen")


@dataclass
class Excuses:
    now: list[str] = field(default_factory=list)
    ever: list[str] = field(default_factory=list)

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        self.now.append(part)
        self.ever.append(part)
        yield
        self.now.remove(part)


def context(*parts: Part, plan: Callable[[Undo], None] = lambda _undo: None, is_guest: bool = False) -> Context:
    return Context({part.name: part for part in parts}, "127.0.0.1:1", plan, is_guest=is_guest)
