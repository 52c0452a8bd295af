"""The triple store of the embedded stack: a real one that is paused, killed, started, copied and restored.

Set-up: the store and the proxy before it, without the other parts of a stack.
"""

import signal
import socket
from collections.abc import Iterator, Mapping

import pytest
import requests

from devkit.faults.do import parse_do
from devkit.faults.fault import Context, Proof
from devkit.guardian import Guardian
from devkit.observe.stored_triples import read_triples, select
from devkit.stack.front import Front
from devkit.stack.parts.part import Part
from devkit.stack.parts.part_life import require_running
from devkit.stack.parts.triple_store import TripleStore, start_triple_store
from devkit.stack.stack import by_name

ROOMS = ("devkit/faults", "devkit/stack")
PART = "triple-store"
NO_BROKER = "127.0.0.1:1"
A, B = '<http://a> <http://p> "1" .', '<http://b> <http://p> "2"@en .'


Parts = Mapping[str, Part]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TripleStore, Parts]]:
    logs = tmp_path_factory.mktemp("triple-store")
    with Guardian() as guardian:
        front = Front(guardian, logs, {PART})
        store, part = start_triple_store(guardian, logs, lead=front.lead)
        part.await_ready()
        yield store, by_name(part, front.part)


@pytest.fixture
def store(started: tuple[TripleStore, Parts]) -> TripleStore:
    """Empty."""
    started[0].clear()
    return started[0]


@pytest.fixture
def parts(started: tuple[TripleStore, Parts]) -> Parts:
    return started[1]


@pytest.fixture
def part(parts: Parts) -> Part:
    return parts[PART]


def write(store: TripleStore, *triples: str) -> None:
    """As a program does, through the proxy."""
    answer = requests.post(store.update, data={"update": f"INSERT DATA {{ {' '.join(triples)} }}"}, timeout=10)
    answer.raise_for_status()


def test_it_is_written_through_the_proxy_and_read_past_it(store: TripleStore) -> None:
    assert store.is_empty()
    write(store, A, f"GRAPH <http://g> {{ {B} }}")
    assert read_triples(store) == (A, B)
    assert read_triples(store, "http://g") == (B,)
    assert select(store, "SELECT ?o { <http://a> ?p ?o }") == ({"o": '"1"'},)
    assert store.query != store.direct_query


def test_a_paused_one_is_silent_and_goes_on(store: TripleStore, part: Part) -> None:
    write(store, A)
    part.pull("pause")
    with pytest.raises(requests.Timeout):
        requests.get(part.address, timeout=1)
    require_running(part.life)
    part.pull("resume")
    assert read_triples(store) == (A,)


@pytest.mark.parametrize("first", ["kill", "restart"])
def test_one_that_was_started_again_has_its_triples(store: TripleStore, part: Part, first: str) -> None:
    write(store, A)
    before = part.life
    if first == "kill":
        part.pull("kill")
        assert before.exit_code == -signal.SIGKILL
        assert not store.answers()
    part.pull("restart")
    assert part.life.pid != before.pid
    assert read_triples(store) == (A,)


def play(parts: Parts, store: TripleStore, written: dict[str, object]) -> Proof:
    context = Context(parts, NO_BROKER, lambda _: None, triple_store=store)
    return parse_do(written).begin(context).end()


def test_a_restored_one_has_the_triples_of_its_copy(store: TripleStore, parts: Parts) -> None:
    write(store, A)
    copied = play(parts, store, {"copy": {"part": PART}})
    assert (copied.acted, "with 1 triple," in copied.did) == (True, True)
    write(store, B)
    assert read_triples(store) == (A, B)
    restored = play(parts, store, {"restore": {"part": PART}})
    assert (restored.acted, "without 1 triple written since" in restored.did) == (True, True)
    assert read_triples(store) == (A,)
    for part in parts.values():
        require_running(part.life)


def test_a_fault_of_the_network_hits_programs_and_spares_the_kit(store: TripleStore, parts: Parts) -> None:
    write(store, A)
    context = Context(parts, NO_BROKER, lambda _: None)
    acting = parse_do({"network_cut": {"part": PART}}).begin(context)
    host, port = store.query.removeprefix("http://").removesuffix("/query").split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=5)
    assert read_triples(store) == (A,)
    acting.end()
    write(store, B)
    assert read_triples(store) == (A, B)
