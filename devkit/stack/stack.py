"""A stack of parts: local processes, containers, or an external stack.

A part has an address, a life and levers. A wait asks the stack whether its parts still live, so that the error names
the part that died and not the one that noticed first. A part that a fault holds is excused from that.
"""

import contextlib
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from devkit.container.limits import Container
from devkit.docker.access import EngineImage
from devkit.errors import PartError, StackError, UsageError, WaitTimeoutError
from devkit.guardian.run_state import DIRECT, PartPlace
from devkit.proxy.client import ProxyControl
from devkit.stack.addresses import Addresses
from devkit.stack.parts.event_bus import EVENT_BUS
from devkit.stack.parts.kafka import KafkaBroker
from devkit.stack.parts.mock_api import MockApi
from devkit.stack.parts.object_store import ObjectStore
from devkit.stack.parts.part import Part, part_names
from devkit.stack.parts.part_life import require_running
from devkit.stack.parts.triple_store import TripleStore
from devkit.waiting import wait_until
from located_config.near import near_miss

CHECKPOINTS = "checkpoints"
CLAIM_CHECKS = "claim-checks"
BUCKETS = (CHECKPOINTS, CLAIM_CHECKS)
ALL_PARTS = frozenset(part_names(triple_store=True))
_NOTICE = timedelta(seconds=1)


def _ignore(_part: str) -> None:
    """The default of `awaiting`."""


def _do_nothing() -> None:
    """The default of `meanwhile` and `leave`: a stack of the run's own ends with the run."""


@dataclass(frozen=True)
class Ports:
    """Ports that a person asked for; None is any free one."""

    kafka: int | None = None
    object_store: int | None = None
    mock_api: int | None = None
    triple_store: int | None = None


@dataclass(frozen=True)
class StackRequest:
    """What a person asked of a stack: `ports` of one that the kit starts, `addresses` (a file) of one that it finds.

    `topics` are those that the run will make afresh. `proxied` names the parts whose clients the kit's proxy is to
    lead; `kafka` means every broker. `triple_store` is whether there has to be one. `limits` are for the programs that
    will run on it. `meanwhile` is done once while parts start, by a stack that would only wait. `awaiting` gets the
    name of each part that the kit begins to wait for.
    """

    ports: Ports = Ports()
    addresses: Path | Addresses | None = None
    topics: tuple[str, ...] = ()
    brokers: int = 1
    proxied: frozenset[str] = frozenset()
    triple_store: bool = False
    limits: Container | None = None
    meanwhile: Callable[[], None] = _do_nothing
    awaiting: Callable[[str], None] = _ignore


NO_WISHES = StackRequest()


class _Excuses:
    """How many faults hold each part now; they come and go on threads of their own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()

    def __contains__(self, name: str) -> bool:
        with self._lock:
            return self._held[name] > 0

    @contextlib.contextmanager
    def hold(self, name: str) -> Iterator[None]:
        with self._lock:
            self._held[name] += 1
        try:
            yield
        finally:
            with self._lock:
                self._held[name] -= 1


def by_name(*parts: Part) -> Mapping[str, Part]:
    """Parts as a stack has them."""
    return {part.name: part for part in parts}


@dataclass(frozen=True)
class Stack:
    """A running stack: clients of what is there, and the `parts` that it runs as, by name; `proxy` stands before some.
    `triple_store` is None unless one was asked for.

    Where it is shared with others, a run keeps its objects below `prefix` (empty, or ending in a slash), and calls
    `leave` when it has done its work or cannot, to remove what it put there. `image` is what programs of the project
    run in where the stack's engine is to hold them to limits.
    """

    kafka: KafkaBroker
    object_store: ObjectStore
    mock_api: MockApi
    parts: Mapping[str, Part]
    proxy: ProxyControl | None = None
    triple_store: TripleStore | None = None
    image: EngineImage | None = None
    prefix: str = ""
    leave: Callable[[], None] = _do_nothing
    _excuses: _Excuses = field(default_factory=_Excuses, init=False, repr=False, compare=False)

    def part(self, name: str) -> Part:
        """Raises UsageError, with the near miss, when there is none of this name."""
        if name in self.parts:
            return self.parts[name]
        raise UsageError(f"the stack has no part {name!r}", hint=near_miss(name, self.parts))

    def with_part(self, part: Part) -> "Stack":
        """The stack with one part more."""
        return replace(self, parts={**self.parts, part.name: part})

    @contextlib.contextmanager
    def excused(self, name: str) -> Iterator[None]:
        """While a fault holds the part, its end is no error. Raises UsageError when there is none of this name."""
        with self._excuses.hold(self.part(name).name):
            yield

    def require_running(self) -> None:
        """Raises StackError that names the part which has ended, and no fault ended it."""
        for part in self._parts_not_excused():
            require_running(part.life)

    @contextlib.contextmanager
    def leave_on_failure(self, say: Callable[[str], None]) -> Iterator[None]:
        """Leaves if the body fails; `say` gets a line if that fails as well."""
        try:
            yield
        except BaseException:
            try:
                self.leave()
            except StackError as error:
                say(f"{error}; {error.hint}")
            raise

    @contextlib.contextmanager
    def named_failures(self) -> Iterator[None]:
        """Turns the error of a client of a dead part into one that names the part and its last words. That of one which
        lives gets the place of its log as hint.
        """
        try:
            yield
        except StackError as error:
            # The end of a part may be known a little after the refused connection.
            with contextlib.suppress(WaitTimeoutError):
                wait_until(self._has_died, what="the end of a part to be known", deadline=_NOTICE)
            try:
                self.require_running()
            except StackError as cause:
                raise cause from error
            if isinstance(error, PartError) and error.hint is None:
                error.hint = self._log_hint(error.part)
            raise

    def _log_hint(self, called: str) -> str | None:
        """Names the log of the part, or of each broker. None where the kit has no log, as the part is external."""
        lives = [part.life for name, part in self.parts.items() if name == called or name.startswith(f"{called}-")]
        logs = [str(life.stderr) for life in lives if life.stderr != Path(os.devnull)]
        return f"read what {called} logged: {', '.join(logs)}" if logs else None

    def _has_died(self) -> bool:
        return any(part.life.exit_code is not None for part in self._parts_not_excused())

    def _parts_not_excused(self) -> Iterable[Part]:
        return (part for name, part in self.parts.items() if name not in self._excuses)

    def addresses(self) -> dict[str, str]:
        """Where programs find the parts; with a proxy also where the kit does, and the proxy itself."""
        shown = {
            "kafka": self.kafka.bootstrap,
            "object store": self.object_store.endpoint,
            "mock API": self.mock_api.endpoint,
        }
        if EVENT_BUS in self.parts:
            shown["event bus"] = self.parts[EVENT_BUS].address
        store = self.triple_store
        if store is not None:
            shown |= {"SPARQL query": store.query, "SPARQL update": store.update}
        if self.proxy is None:
            return shown
        direct = {
            f"kafka{DIRECT}": self.kafka.direct,
            f"object store{DIRECT}": self.object_store.direct,
            f"mock API{DIRECT}": self.mock_api.direct,
        }
        if store is not None:
            direct |= {f"SPARQL query{DIRECT}": store.direct_query, f"SPARQL update{DIRECT}": store.direct_update}
        return shown | direct | {"proxy": self.proxy.endpoint}

    def places(self) -> tuple[PartPlace, ...]:
        """The parts as the run's state file knows them."""
        return tuple(
            PartPlace(name=part.name, address=part.address, pid=part.life.pid, container=part.life.container)
            for part in self.parts.values()
        )
