"""A fault on a part: a parameter model that knows what it needs, how it begins, and how it is undone."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import ClassVar, Protocol, runtime_checkable

import psutil
from pydantic import BaseModel, ConfigDict

from devkit.observe.checkpoint import Checkpoint
from devkit.programs.hosts_file import HostsFile
from devkit.programs.role import Role
from devkit.stack.parts.part import Lever, Part
from devkit.stack.parts.triple_store import TripleStore


@dataclass(frozen=True)
class Need:
    """A part that a fault acts on, by a lever of its backend or (None) through the part's own interface.

    `proxied` is whether a proxy has to stand in front of it, which only then does, and `named` whether programs have to
    find it by a name, which only then do.
    """

    part: str
    lever: Lever | None = None
    proxied: bool = False
    named: bool = False


class Undo(BaseModel):
    """The data by which `Fault.undo` ends a fault when the process that began it is gone. It goes to disk.

    `outlives_run` is False where the run's end ends it anyway, because the part ends with the run. What cannot be
    undone says so in `irreversible`, and is then named and not tried.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: dict[str, str] = {}
    outlives_run: bool = False
    irreversible: str = ""


@dataclass(frozen=True)
class Proof:
    """The proof of what the part did. `acted` is False where it was not observed; `did` then says what was instead.

    `hides` is what is not observable of the arm any more because of it, empty for nothing.
    """

    acted: bool
    did: str
    hides: str = ""


class Acting(Protocol):
    """A fault that has begun."""

    def end(self) -> Proof:
        """End it, and say what it did, looked at before it ends where it shows only then. Called once.

        Raises StackError when it cannot be ended.
        """


@runtime_checkable
class MadeTopic(Acting, Protocol):
    """An acting fault that made a topic or partitions of it: it changes nothing for a program until records come."""

    def unreached(self) -> str:
        """Asked after the arm's end: which of what was made has no record, in words; "" where some record is there.

        Raises StackError.
        """


def _no_processes(_role: Role, _program: str | None) -> Sequence[psutil.Process]:
    return ()


@dataclass(frozen=True)
class MainProgram:
    """Its checkpoint, and the living processes of its newest start."""

    checkpoint: Checkpoint
    tree: Callable[[], Sequence[psutil.Process]]


@dataclass(frozen=True)
class Context:
    """The context of a fault. `kafka` is the kit's own way to the broker, past every proxy.

    `topics` are the arm's by role (source, output, error, deferred), empty outside an arm. `processes` gives those
    of the programs under test by role (driver, executor, worker) and the program's name, None for those of all.
    `plan` writes how the fault is undone to the journal: call it before acting, and again when there is more to
    undo. `is_guest` is whether the parts outlive the run. Draws are functions of `seed` and of `name`, that of the
    timeline's item, and so the same in each arm. `run_id` is that of the run, by which a later process finds its
    parts. `cluster_id` asks the broker for the id of its cluster, and raises StackError. `main` is the arm's main
    program, None outside an arm. `triple_store` is None where the stack has none, `hosts` where programs find no
    part by a name.
    """

    parts: Mapping[str, Part]
    kafka: str
    plan: Callable[[Undo], None]
    topics: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    processes: Callable[[Role, str | None], Sequence[psutil.Process]] = _no_processes
    is_guest: bool = False
    seed: int = 0
    name: str = ""
    run_id: str = ""
    cluster_id: Callable[[], str] = str
    main: MainProgram | None = None
    triple_store: TripleStore | None = None
    hosts: HostsFile | None = None


class Fault(BaseModel, ABC):
    """One fault with its parameters. Subclasses set the class variables; `example` is YAML for its parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    name: ClassVar[str]
    summary: ClassVar[str]
    example: ClassVar[str]
    lasts: ClassVar[bool] = True
    """Whether it acts until it is ended; False where `begin` returns when all is done."""
    brokers: ClassVar[int] = 1
    """How many brokers the cluster must have."""
    begins_within: ClassVar[timedelta] = timedelta(seconds=60)
    """A request that it waits for is held for this time; one that begins later has missed it."""
    blinds: ClassVar[bool] = False
    """Whether its parts do not even answer the kit meanwhile, which then does not look at the stack."""

    def blinds_s(self) -> float:
        """For how long at most, in seconds from its beginning, if it does and no other part is away as well."""
        return math.inf

    @abstractmethod
    def needs(self) -> tuple[Need, ...]:
        """The parts that it acts on; they are excused while it does."""

    def claims(self, topics: Mapping[str, str]) -> frozenset[str]:  # noqa: ARG002 - for those that override it
        """No other fault may act on these while it does; see `devkit.faults.claims`. `topics` are by role."""
        return frozenset()

    @abstractmethod
    def begin(self, context: Context) -> Acting:
        """Begin it. Raises StackError when the part refuses."""

    @classmethod
    def undo(cls, undo: Undo) -> None:
        """End it from what the journal says alone; harmless when it is ended. Raises StackError when it cannot be."""
        raise NotImplementedError(f"{cls.name} planned {undo} and does not say how to undo it")

    def __str__(self) -> str:
        """The YAML of it: `pause: {part: kafka}`."""
        parameters = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return f"{self.name}: {{{', '.join(f'{key}: {value}' for key, value in parameters.items())}}}"
