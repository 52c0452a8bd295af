"""The embedded stack: every part a local process on a loopback port, nothing to install first."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from devkit.errors import StackError
from devkit.guardian import Guardian
from devkit.stack.parts.kafka import KafkaBroker, await_kafka, start_kafka
from devkit.stack.parts.mock_api import await_mock_api, start_mock_api
from devkit.stack.parts.object_store import ObjectStore, await_object_store, start_object_store
from devkit.stack.stack import BUCKETS, NO_WISHES, Stack, StackRequest

_PORT_RACES = 2
_IN_USE = "in use"
_LAST_LINES = 50

P = TypeVar("P", KafkaBroker, ObjectStore)


def start_embedded(guardian: Guardian, logs: Path, request: StackRequest = NO_WISHES) -> Stack:
    """Start all parts side by side and wait until each is ready. Raises StackError that names the part."""
    ports = request.ports
    store = start_object_store(guardian, logs, port=ports.object_store)
    mock = start_mock_api(guardian, logs, port=ports.mock_api)
    kafka = start_kafka(guardian, logs, port=ports.kafka)
    store = _ready(
        store,
        lambda part: await_object_store(part, BUCKETS),
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
