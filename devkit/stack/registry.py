"""The stacks there are, by the name that `--stack` takes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from devkit.errors import UsageError
from devkit.guardian import Guardian
from devkit.guardian.run_state import LOGS
from devkit.stack.compose import start_compose
from devkit.stack.embedded import start_embedded
from devkit.stack.external import start_external
from devkit.stack.parts.event_bus import start_event_bus
from devkit.stack.stack import NO_WISHES, Ports, Stack, StackRequest

Start = Callable[[Guardian, Path, StackRequest], Stack]
"""Starts all parts, logs to a directory, and waits until each is ready. Raises StackError that names the part."""

DEFAULT = "embedded"


def _testcontainers(guardian: Guardian, logs: Path, request: StackRequest) -> Stack:
    # A library that only this needs, and that takes a moment to import.
    from devkit.stack.testcontainers import start_testcontainers

    return start_testcontainers(guardian, logs, request)


BACKENDS: Mapping[str, Start] = MappingProxyType(
    {
        "embedded": start_embedded,
        "compose": start_compose,
        "testcontainers": _testcontainers,
        "external": start_external,
    }
)


def start_line(backend: str) -> str:
    """What `start_stack` does, for a line of progress."""
    return "connecting to the external stack" if backend == "external" else "starting Kafka, object store and mock API"


def start_stack(backend: str, guardian: Guardian, logs: Path, request: StackRequest = NO_WISHES) -> Stack:
    """Start the stack called `backend`, and have the run's state say what it consists of. Raises StackError."""
    if request.proxied and request.ports != Ports():
        raise UsageError("the port of a part cannot be chosen where a proxy leads its clients", hint="leave it out")
    stack = BACKENDS[backend](guardian, logs, request)
    guardian.announce(stack.addresses() | {LOGS: str(logs.absolute())}, stack.places())
    return stack


def add_event_bus(stack: Stack, guardian: Guardian, logs: Path, *, stream: str) -> Stack:
    """Start the event bus from the stack's mock to the topics of `stream`, past any proxy. Raises StackError."""
    part = start_event_bus(guardian, logs, mock=stack.mock_api.direct, kafka=stack.kafka.direct, stream=stream)
    larger = stack.with_part(part)
    guardian.announce(larger.addresses() | {LOGS: str(logs.absolute())}, larger.places())
    return larger
