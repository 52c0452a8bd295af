"""A stack of parts, whoever runs them: local processes, containers, or somebody else.

A part has an address and a life. What needs a part asks for the address; what waits for something asks the stack
whether its parts still live, so that the error names the part that died and not whoever noticed first.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from devkit.errors import StackError, WaitTimeoutError
from devkit.guardian.state import PartPlace
from devkit.stack.parts.kafka import KafkaBroker
from devkit.stack.parts.mock_api import MockApi
from devkit.stack.parts.object_store import ObjectStore
from devkit.stack.parts.running import Life, require_running
from devkit.waiting import wait_until

CHECKPOINTS = "checkpoints"
CLAIM_CHECKS = "claim-checks"
BUCKETS = (CHECKPOINTS, CLAIM_CHECKS)
_NEWS = timedelta(seconds=1)


@dataclass(frozen=True)
class Ports:
    """Ports that a person asked for; None is any free one."""

    kafka: int | None = None
    object_store: int | None = None
    mock_api: int | None = None


@dataclass(frozen=True)
class StackRequest:
    """What a person asked of a stack: `ports` of one that the kit starts, `addresses` (a file) of one that it finds.

    `topics` are those that the run will make afresh.
    """

    ports: Ports = Ports()
    addresses: Path | None = None
    topics: tuple[str, ...] = ()


NO_WISHES = StackRequest()


def _nothing() -> None:
    """A stack of the run's own ends with the run."""


@dataclass(frozen=True)
class Stack:
    """A running stack.

    Where it is shared with others, a run keeps its objects below `prefix` (empty, or ending in a slash), and calls
    `leave` when it has done its work or cannot, to remove what it put there.
    """

    kafka: KafkaBroker
    object_store: ObjectStore
    mock_api: MockApi
    prefix: str = ""
    leave: Callable[[], None] = _nothing

    def lives(self) -> tuple[Life, ...]:
        return self.kafka.process, self.object_store.process, self.mock_api.process

    def require_running(self) -> None:
        """Raises StackError that names the part which has ended."""
        for life in self.lives():
            require_running(life)

    @contextlib.contextmanager
    def left_when_it_fails(self, say: Callable[[str], None]) -> Iterator[None]:
        """Leaves if what is done within fails; `say` gets a line if that fails as well."""
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
        """Turns the error of somebody who talked to a dead part into one that names the part and its last words."""
        try:
            yield
        except StackError as error:
            # The news of the end may come a little after the refused connection.
            with contextlib.suppress(WaitTimeoutError):
                wait_until(self._has_died, what="the end of a part to be known", deadline=_NEWS)
            try:
                self.require_running()
            except StackError as cause:
                raise cause from error
            raise

    def _has_died(self) -> bool:
        return any(life.exit_code is not None for life in self.lives())

    def addresses(self) -> dict[str, str]:
        return {
            "kafka": self.kafka.bootstrap,
            "object store": self.object_store.endpoint,
            "mock API": self.mock_api.endpoint,
        }

    def parts(self) -> tuple[PartPlace, ...]:
        """The parts as the run's state file knows them."""
        return tuple(
            PartPlace(name=life.name, address=address, pid=life.pid, container=life.container)
            for life, address in zip(self.lives(), self.addresses().values(), strict=True)
        )
