"""The embedded stack: every part a local process on a loopback port, nothing to install first."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from devkit.errors import StackError
from devkit.guardian import Guardian
from devkit.stack.parts.kafka import KafkaBroker, start_kafka
from devkit.stack.parts.mock_api import MockApi, start_mock_api
from devkit.stack.parts.object_store import ObjectStore, start_object_store
from devkit.stack.parts.process import ProcessPart
from devkit.stack.stack import BUCKETS, NO_WISHES, Stack, StackRequest, by_name

_PORT_RACES = 2
_IN_USE = "in use"
_LAST_LINES = 50

C = TypeVar("C")


def start_embedded(guardian: Guardian, logs: Path, request: StackRequest = NO_WISHES) -> Stack:
    """Start all parts side by side and wait until each is ready. Raises StackError that names the part."""
    ports = request.ports

    def object_store(port: int | None = None) -> tuple[ObjectStore, ProcessPart]:
        return start_object_store(guardian, logs, BUCKETS, port=port)

    def mock_api(port: int | None = None) -> tuple[MockApi, ProcessPart]:
        return start_mock_api(guardian, logs, port=port)

    def kafka(port: int | None = None) -> tuple[KafkaBroker, ProcessPart]:
        return start_kafka(guardian, logs, port=port)

    begun = object_store(ports.object_store), mock_api(ports.mock_api), kafka(ports.kafka)
    store, store_part = _ready(begun[0], again=None if ports.object_store else object_store)
    mock, mock_part = _ready(begun[1], again=None if ports.mock_api else mock_api)
    broker, broker_part = _ready(begun[2], again=None if ports.kafka else kafka)
    return Stack(broker, store, mock, by_name(broker_part, store_part, mock_part))


def _ready(begun: tuple[C, ProcessPart], *, again: Callable[[], tuple[C, ProcessPart]] | None) -> tuple[C, ProcessPart]:
    """The part when it is ready. One that lost the race for the free port it was given is started again."""
    for _ in range(_PORT_RACES if again else 0):
        life = begun[1].life
        try:
            begun[1].await_ready()
        except StackError:
            if life.exit_code is None or _IN_USE not in life.last_words(_LAST_LINES):
                raise
            assert again is not None
            begun = again()
        else:
            return begun
    begun[1].await_ready()
    return begun
