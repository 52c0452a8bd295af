"""The triple store of the compose stack: in a container, its data in a volume, with a proxy of the kit before it.

Set-up: the compose stack with a triple store. Step: each lever, and the faults that copy and restore its data. Checked:
what it has afterwards, read past the proxy.
"""

from collections.abc import Iterator

import pytest
import requests

from devkit.docker.access import RUN_LABEL
from devkit.errors import StackError
from devkit.guardian import Guardian
from devkit.observe.stored_triples import read_triples
from devkit.stack.parts.triple_store import TripleStore
from devkit.stack.registry import start_stack
from devkit.stack.stack import Stack, StackRequest
from tests.integration.docker.conftest import Docker
from tests.integration.docker.engine import TestEngine
from tests.integration.docker.test_compose import of_run
from tests.integration.test_triple_store import PART, A, B, play, write

ROOMS = ("devkit/docker", "devkit/faults", "devkit/stack", "deploy")
SERVICE = '{{.Label "com.docker.compose.service"}}'

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def running(docker_engine: TestEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Guardian, Stack]]:
    with Guardian() as guardian:
        request = StackRequest(triple_store=True, proxied=frozenset({PART}))
        yield guardian, start_stack("compose", guardian, tmp_path_factory.mktemp("stack"), request)


@pytest.fixture
def stack(running: tuple[Guardian, Stack]) -> Stack:
    return running[1]


@pytest.fixture
def store(stack: Stack) -> TripleStore:
    """Empty."""
    assert stack.triple_store is not None
    stack.triple_store.clear()
    return stack.triple_store


def test_it_is_a_container_of_the_run_with_a_volume_of_its_own(
    running: tuple[Guardian, Stack], store: TripleStore, docker: Docker
) -> None:
    run_id = running[0].run_id
    listed = docker("ps", "--filter", f"label={RUN_LABEL}={run_id}", "--format", SERVICE).split()
    assert sorted(listed) == ["kafka", "minio", "mock-api", "triple-store"]
    assert len(of_run(docker, run_id)) == 8  # four containers, a network, three volumes
    write(store, A, f"GRAPH <http://g> {{ {B} }}")
    assert read_triples(store) == (A, B)
    assert store.query != store.direct_query


def test_a_paused_one_is_silent_and_goes_on(store: TripleStore, stack: Stack) -> None:
    part = stack.part(PART)
    write(store, A)
    part.pull("pause")
    with pytest.raises(requests.Timeout):
        requests.get(part.address, timeout=1)
    stack.require_running()
    part.pull("resume")
    assert read_triples(store) == (A,)


@pytest.mark.parametrize("first", ["kill", "restart"])
def test_one_that_was_started_again_has_its_triples(store: TripleStore, stack: Stack, first: str) -> None:
    part = stack.part(PART)
    write(store, A)
    if first == "kill":
        part.pull("kill")
        assert not store.answers()
        with pytest.raises(StackError, match=r"^triple-store ended with exit code 137"):
            stack.require_running()
    part.pull("restart")
    stack.require_running()
    assert read_triples(store) == (A,)


def test_a_restored_one_has_the_triples_of_its_copy(store: TripleStore, stack: Stack) -> None:
    write(store, A)
    assert play(stack.parts, store, {"copy": {"part": PART}}).acted
    write(store, B)
    restored = play(stack.parts, store, {"restore": {"part": PART}})
    assert (restored.acted, "without 1 triple written since" in restored.did) == (True, True)
    assert read_triples(store) == (A,)
    stack.require_running()
