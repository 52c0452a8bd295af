"""The embedded stack: every part a local process on a loopback port, nothing to install first."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from devkit.errors import StackError
from devkit.guardian import Guardian
from devkit.stack.front import Front
from devkit.stack.parts.kafka import KafkaBroker
from devkit.stack.parts.local_kafka import start_kafka
from devkit.stack.parts.mock_api import MockApi, start_mock_api
from devkit.stack.parts.object_store import ObjectStore, start_object_store
from devkit.stack.parts.part import unproxied
from devkit.stack.parts.process import ProcessPart
from devkit.stack.parts.triple_store import TripleStore, start_triple_store
from devkit.stack.stack import BUCKETS, NO_WISHES, Stack, StackRequest, by_name

_PORT_RACES = 2
_IN_USE = "in use"
_LAST_LINES = 50

T = TypeVar("T")
Begun = tuple[T, tuple[ProcessPart, ...]]


def start_embedded(guardian: Guardian, logs: Path, request: StackRequest = NO_WISHES) -> Stack:
    """Start all parts side by side and wait until each is ready. Raises StackError that names the part."""
    ports = request.ports
    front = Front(guardian, logs, request.proxied) if request.proxied else None
    lead, lead_requests = (front.lead, front.lead_requests) if front else (unproxied, unproxied)

    def object_store(port: int | None = None) -> Begun[ObjectStore]:
        store, part = start_object_store(guardian, logs, BUCKETS, port=port, lead=lead_requests)
        return store, (part,)

    def mock_api(port: int | None = None) -> Begun[MockApi]:
        mock, part = start_mock_api(guardian, logs, port=port, lead=lead)
        return mock, (part,)

    def kafka(port: int | None = None) -> Begun[KafkaBroker]:
        return start_kafka(guardian, logs, port=port, brokers=request.brokers, lead=lead)

    def triple_store(port: int | None = None) -> Begun[TripleStore]:
        store, part = start_triple_store(guardian, logs, port=port, lead=lead)
        return store, (part,)

    triples = triple_store(ports.triple_store) if request.triple_store else None
    begun = object_store(ports.object_store), mock_api(ports.mock_api), kafka(ports.kafka)
    request.meanwhile()
    store, store_parts = _ready(begun[0], request.awaiting, again=None if ports.object_store else object_store)
    mock, mock_parts = _ready(begun[1], request.awaiting, again=None if ports.mock_api else mock_api)
    broker, broker_parts = _ready(begun[2], request.awaiting, again=None if ports.kafka else kafka)
    parts = [*broker_parts, *store_parts, *mock_parts]
    triple_client = None
    if triples is not None:
        triple_client, triple_parts = _ready(
            triples, request.awaiting, again=None if ports.triple_store else triple_store
        )
        parts += triple_parts
    named = by_name(*parts, *([front.part] if front else ()))
    return Stack(broker, store, mock, named, front.control if front else None, triple_store=triple_client)


def _ready(begun: Begun[T], awaiting: Callable[[str], None], *, again: Callable[[], Begun[T]] | None) -> Begun[T]:
    """The part when it is ready; `awaiting` gets its name before. One that lost the race for the free port it was given
    is started again.
    """
    for _ in range(_PORT_RACES if again else 0):
        try:
            _await(begun[1], awaiting)
        except StackError:
            if not any(map(_lost_a_race, begun[1])):
                raise
            assert again is not None
            # Those of a cluster that were luckier would wait for the others.
            for part in begun[1]:
                part.pull("kill")
            begun = again()
        else:
            return begun
    _await(begun[1], awaiting)
    return begun


def _await(parts: Iterable[ProcessPart], awaiting: Callable[[str], None]) -> None:
    for part in parts:
        awaiting(part.name)
        part.await_ready()


def _lost_a_race(part: ProcessPart) -> bool:
    return part.life.exit_code is not None and _IN_USE in part.life.last_words(_LAST_LINES)
