"""The embedded stack: every part a local process on a loopback port, nothing to install first."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from devkit.errors import StackError, WaitTimeoutError
from devkit.guardian import Guardian, ManagedProcess
from devkit.stack.parts.kafka import KafkaBroker, await_kafka, start_kafka
from devkit.stack.parts.mock_api import MockApi, await_mock_api, start_mock_api
from devkit.stack.parts.object_store import ObjectStore, await_object_store, start_object_store
from devkit.stack.parts.running import require_running
from devkit.waiting import wait_until

CHECKPOINTS = "checkpoints"
CLAIM_CHECKS = "claim-checks"
_NEWS = timedelta(seconds=1)
_PORT_RACES = 2
_IN_USE = "in use"
_LAST_LINES = 50

P = TypeVar("P", KafkaBroker, ObjectStore)


@dataclass(frozen=True)
class Ports:
    """Ports that a person asked for; None is any free one."""

    kafka: int | None = None
    object_store: int | None = None
    mock_api: int | None = None


@dataclass(frozen=True)
class Stack:
    """A running stack."""

    kafka: KafkaBroker
    object_store: ObjectStore
    mock_api: MockApi

    def processes(self) -> tuple[ManagedProcess, ...]:
        return self.kafka.process, self.object_store.process, self.mock_api.process

    def require_running(self) -> None:
        """Raises StackError that names the part which has ended."""
        for process in self.processes():
            require_running(process)

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
        return any(process.exit_code is not None for process in self.processes())

    def addresses(self) -> dict[str, str]:
        return {
            "kafka": self.kafka.bootstrap,
            "object store": self.object_store.endpoint,
            "mock API": self.mock_api.endpoint,
        }


def start_embedded(guardian: Guardian, logs: Path, *, ports: Ports = Ports()) -> Stack:
    """Start all parts side by side and wait until each is ready. Raises StackError that names the part."""
    store = start_object_store(guardian, logs, port=ports.object_store)
    mock = start_mock_api(guardian, logs, port=ports.mock_api)
    kafka = start_kafka(guardian, logs, port=ports.kafka)
    store = _ready(
        store,
        lambda part: await_object_store(part, (CHECKPOINTS, CLAIM_CHECKS)),
        again=None if ports.object_store else lambda: start_object_store(guardian, logs),
    )
    await_mock_api(mock)
    kafka = _ready(kafka, await_kafka, again=None if ports.kafka else lambda: start_kafka(guardian, logs))
    return Stack(kafka, store, mock)


def _ready(part: P, wait: Callable[[P], None], *, again: Callable[[], P] | None) -> P:
    """The part when it is ready. One that lost the race for the free port it was given is started again."""
    for _ in range(_PORT_RACES if again else 0):
        try:
            wait(part)
        except StackError:
            if part.process.exit_code is None or _IN_USE not in part.process.last_words(_LAST_LINES):
                raise
            assert again is not None
            part = again()
        else:
            return part
    wait(part)
    return part
