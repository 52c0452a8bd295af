"""The proxy before a real object store and a real mock: programs go through it, the kit does not.

What is before brokers stands in `test_kafka_cluster.py`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from devkit.guardian import Guardian
from devkit.stack.front import REQUESTS_SUFFIX, Front
from devkit.stack.parts.mock_api import start_mock_api
from devkit.stack.parts.object_store import s3_client, start_object_store
from devkit.stack.parts.process import ProcessPart

ROOMS = ("devkit/proxy", "devkit/stack")
BUCKET = "claim-checks"
PARTS = frozenset({"object-store", "mock-api"})


@pytest.fixture
def front(tmp_path: Path) -> Iterator[tuple[Guardian, Front]]:
    with Guardian() as guardian:
        yield guardian, Front(guardian, tmp_path, PARTS)


def met(front: Front) -> dict[str, int]:
    """Connections so far, by listener."""

    return {one.name: one.connections for one in front.control.listeners()}


def come_back(part: ProcessPart) -> None:
    part.pull("kill")
    part.pull("restart")


def test_an_object_store_is_the_same_through_both_listeners(front: tuple[Guardian, Front], tmp_path: Path) -> None:
    guardian, proxy = front
    store, part = start_object_store(guardian, tmp_path, (BUCKET,), lead=proxy.lead_requests)
    part.await_ready()
    store.client().put_object(Bucket=BUCKET, Key="a/b", Body=b"payload")
    assert met(proxy) == {"object-store": 0, f"object-store{REQUESTS_SUFFIX}": 0}, "the kit goes past both"
    program = s3_client(store.endpoint)
    assert program.get_object(Bucket=BUCKET, Key="a/b")["Body"].read() == b"payload"
    program.put_object(Bucket=BUCKET, Key="a/c", Body=b"x" * (1 << 20))
    assert all(met(proxy).values())
    come_back(part)
    assert program.head_object(Bucket=BUCKET, Key="a/c")["ContentLength"] == 1 << 20


def test_a_mock_is_the_same_behind_it(front: tuple[Guardian, Front], tmp_path: Path) -> None:
    guardian, proxy = front
    mock, part = start_mock_api(guardian, tmp_path, lead=proxy.lead)
    part.await_ready()
    assert mock.counts().requests == 0
    assert met(proxy) == {"mock-api": 0}
    address = f"{mock.endpoint}/w/rest.php/v1/page/Main_Page/bare"
    assert requests.get(address, timeout=10).status_code == 200
    assert met(proxy) == {"mock-api": 1}
    assert mock.counts().requests == 1
    come_back(part)
    assert requests.get(address, timeout=10).status_code == 200
