"""The embedded stack: every part a local process on a loopback port, nothing to install first."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

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
    await_object_store(store, (CHECKPOINTS, CLAIM_CHECKS))
    await_mock_api(mock)
    await_kafka(kafka)
    return Stack(kafka, store, mock)
