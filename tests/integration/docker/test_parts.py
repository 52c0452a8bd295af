"""The levers of parts in containers, with a proxy of the kit before the broker.

Set-up: the compose stack. Step: each lever on each part. Checked: what a client of it sees, and that what was written
is still there. Each test leaves the stack as it found it.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
import requests
from kafka import KafkaAdminClient, KafkaProducer

from devkit.errors import StackError
from devkit.guardian import Guardian
from devkit.stack.registry import start_stack
from devkit.stack.stack import CHECKPOINTS, Stack, StackRequest
from devkit.stack.topics import TopicEnds, recreate_topics
from tests.integration.docker.engine import TestEngine

ROOMS = ("devkit/docker", "devkit/proxy", "devkit/stack", "deploy")
SILENT_S = 1.0
DEADLINE_S = 60.0

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stack(docker_engine: TestEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Guardian() as guardian:
        request = StackRequest(proxied=frozenset({"kafka"}))
        yield start_stack("compose", guardian, tmp_path_factory.mktemp("stack"), request)


def test_programs_are_led_through_the_proxy_and_the_kit_is_not(stack: Stack) -> None:
    for bootstrap in (stack.kafka.bootstrap, stack.kafka.direct):
        with closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
            (broker,) = admin.describe_cluster()["brokers"]
        assert f"{broker['host']}:{broker['port']}" == bootstrap
    assert stack.proxy is not None
    (listener,) = stack.proxy.listeners()
    assert listener.address == stack.kafka.bootstrap
    assert listener.connections


@pytest.mark.parametrize("name", ["object-store", "mock-api"])
def test_requests_to_a_paused_container_stall_and_go_on(stack: Stack, name: str) -> None:
    part = stack.part(name)
    part.pull("pause")
    with pytest.raises(requests.Timeout):
        requests.get(part.address, timeout=SILENT_S)
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(requests.get, part.address, timeout=DEADLINE_S)
        stack.require_running()
        part.pull("resume")
        assert asked.result().status_code


@pytest.mark.parametrize("first", ["kill", "restart"])
def test_what_was_started_again_has_what_it_had(stack: Stack, first: str) -> None:
    recreate_topics(stack.kafka.direct, {"kept": (1, {})})
    with closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap, acks="all")) as producer:
        producer.send("kept", b"before").get(DEADLINE_S)
    client = stack.object_store.client()
    client.put_object(Bucket=CHECKPOINTS, Key="kept", Body=b"before")
    for name in ("kafka", "object-store"):
        part, log = stack.part(name), stack.part(name).life.stderr.read_text()
        if first == "kill":
            part.pull("kill")
            with pytest.raises(StackError, match=rf"^{name} ended with exit code 137"):
                stack.require_running()
        part.pull("restart")
        stack.require_running()
        assert part.life.stderr.read_text().startswith(log), "its log goes on"
    with closing(TopicEnds(stack.kafka.direct)) as ends:
        assert ends.of("kept") == {0: 1}
    assert client.get_object(Bucket=CHECKPOINTS, Key="kept")["Body"].read() == b"before"
