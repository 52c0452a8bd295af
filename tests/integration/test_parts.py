"""The levers of the embedded stack's parts, and faults by them: a real broker, object store and mock that are stopped,
killed, started.

Each test has the stack of its module as it found it: paused parts go on, dead ones are started again.
"""

import re
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta

import pytest
import requests
from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError

from devkit.errors import StackError
from devkit.faults.do import parse_do
from devkit.faults.fault import Context, Undo
from devkit.guardian import Guardian
from devkit.guardian.run_state import known_runs
from devkit.stack.embedded import start_embedded
from devkit.stack.parts.liveness import answers
from devkit.stack.parts.part import Part
from devkit.stack.stack import CHECKPOINTS, Stack
from devkit.stack.topics import recreate_topics
from devkit.waiting import wait_until
from mockapi.rules.model import Rule

ROOMS = ("devkit/stack", "devkit/faults")
SILENT_S = 1.0
DEADLINE = timedelta(seconds=30)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Guardian, Stack]]:
    """A stack of these tests' own, that is not in anybody's way while a part of it is down."""
    with Guardian() as guardian:
        stack = start_embedded(guardian, tmp_path_factory.mktemp("parts"))
        guardian.announce(stack.addresses(), stack.places())
        yield guardian, stack


def refused(part: Part) -> bool:
    host, _, port = part.address.removeprefix("http://").partition(":")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.mark.parametrize("name", ["object-store", "mock-api"])
def test_requests_to_a_paused_server_stall_and_go_on(running: tuple[Guardian, Stack], name: str) -> None:
    _, stack = running
    part = stack.part(name)
    part.pull("pause")
    with pytest.raises(requests.Timeout):
        requests.get(part.address, timeout=SILENT_S)
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(requests.get, part.address, timeout=DEADLINE.total_seconds())
        stack.require_running()  # paused is not dead
        part.pull("resume")
        assert asked.result().status_code


def test_records_to_a_paused_broker_wait_and_arrive(running: tuple[Guardian, Stack]) -> None:
    _, stack = running
    recreate_topics(stack.kafka.bootstrap, {"paused": (1, {})})
    with closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap, acks="all")) as producer:
        producer.send("paused", b"before").get(DEADLINE.total_seconds())
        stack.part("kafka").pull("pause")
        waiting = producer.send("paused", b"meanwhile")
        with pytest.raises(Exception, match=r"(?i)time"):
            waiting.get(SILENT_S)
        stack.part("kafka").pull("resume")
        assert waiting.get(DEADLINE.total_seconds()).offset == 1


@pytest.mark.parametrize("first", ["kill", "restart"])
def test_a_broker_that_was_started_again_has_its_records(running: tuple[Guardian, Stack], first: str) -> None:
    """`restart` of a living one is the clean one: SIGTERM, then a start."""
    guardian, stack = running
    part, before = stack.part("kafka"), stack.part("kafka").life
    recreate_topics(stack.kafka.bootstrap, {"kept": (1, {})})
    with closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap, acks="all")) as producer:
        producer.send("kept", b"before").get(DEADLINE.total_seconds())
    if first == "kill":
        part.pull("kill")
        assert refused(part)
        assert before.exit_code == -signal.SIGKILL
        with pytest.raises(StackError, match=r"^kafka ended by signal 9"):
            stack.require_running()
        with stack.excused("kafka"):
            stack.require_running()
    part.pull("restart")
    assert before.exit_code == (-signal.SIGKILL if first == "kill" else 128 + signal.SIGTERM)
    assert part.life.pid != before.pid
    stack.require_running()
    assert {place.name: place.pid for place in state_of(guardian)}["kafka"] == part.life.pid
    consumer = KafkaConsumer("kept", bootstrap_servers=stack.kafka.bootstrap, auto_offset_reset="earliest")
    with closing(consumer):
        (records,) = wait_until(lambda: consumer.poll(500), what="the record", deadline=DEADLINE).values()
    assert [record.value for record in records] == [b"before"]


def state_of(guardian: Guardian) -> tuple:
    (state,) = [run for run in known_runs() if run.run_id == guardian.run_id]
    return state.parts


@pytest.mark.parametrize("first", ["kill", "restart"])
def test_a_mock_that_was_started_again_has_its_rules(running: tuple[Guardian, Stack], first: str) -> None:
    _, stack = running
    part, mock = stack.part("mock-api"), stack.mock_api
    mock.populate(seed=1, catalog=[], rules=[Rule.model_validate({"name": "gone", "do": {"status": 503}})])
    address = f"{part.address}/w/rest.php/v1/page/X/bare"
    assert requests.get(address, timeout=5).status_code == 503
    log = part.life.stdout.read_text()
    if first == "kill":
        part.pull("kill")
        assert refused(part)
    part.pull("restart")
    assert requests.get(address, timeout=5).status_code == 503
    (line,) = set(log.splitlines())
    assert part.life.stdout.read_text() == f"{log}{line}\n", "the log goes on"
    assert mock.counts().requests == 1, "its journal begins afresh"


@pytest.mark.parametrize("first", ["kill", "restart"])
def test_an_object_store_that_was_started_again_has_its_objects(running: tuple[Guardian, Stack], first: str) -> None:
    _, stack = running
    part, client = stack.part("object-store"), stack.object_store.client()
    client.put_object(Bucket=CHECKPOINTS, Key=f"{first}/gone", Body=b"")
    client.delete_object(Bucket=CHECKPOINTS, Key=f"{first}/gone")
    client.put_object(Bucket=CHECKPOINTS, Key=f"{first}/0", Body=b"v1\n{}", Metadata={"sha": "1"})
    if first == "kill":
        part.pull("kill")
        assert refused(part)
    part.pull("restart")
    stack.require_running()
    listed = client.list_objects_v2(Bucket=CHECKPOINTS, Prefix=f"{first}/")
    assert [one["Key"] for one in listed["Contents"]] == [f"{first}/0"]
    found = client.get_object(Bucket=CHECKPOINTS, Key=f"{first}/0")
    assert (found["Body"].read(), found["Metadata"]) == (b"v1\n{}", {"sha": "1"})


@pytest.mark.parametrize(
    ("written", "did"),
    [
        ({"pause": {"part": "kafka"}}, r"was stopped for \d+\.\d s, and it answered nothing"),
        ({"kill": {"part": "kafka"}}, "it ended with signal 9, and was started again: away for .* s of them its start"),
    ],
)
def test_a_broker_answers_nothing_until_the_fault_ends(
    running: tuple[Guardian, Stack], written: dict[str, object], did: str
) -> None:
    _, stack = running
    recreate_topics(stack.kafka.direct, {"faulty": (1, {})})
    plans: list[Undo] = []
    fault = parse_do(written)
    with closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap, acks="all")) as producer:
        producer.send("faulty", b"before").get(DEADLINE.total_seconds())
        acting = fault.begin(Context(stack.parts, stack.kafka.direct, plans.append))
        assert plans
        assert not answers(stack.parts["kafka"].address)
        waiting = producer.send("faulty", b"meanwhile")
        with pytest.raises(KafkaError):
            waiting.get(SILENT_S)
        proof = acting.end()
        assert proof.acted
        assert re.search(f"{did}$", proof.did), proof.did
        assert waiting.get(DEADLINE.total_seconds()).offset >= 1
    stack.require_running()


def test_a_fault_that_restarts_a_broker_leaves_a_new_process_with_the_same_records(
    running: tuple[Guardian, Stack],
) -> None:
    _, stack = running
    recreate_topics(stack.kafka.direct, {"faulty": (1, {})})
    with closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap, acks="all")) as producer:
        producer.send("faulty", b"before").get(DEADLINE.total_seconds())
        before = stack.parts["kafka"].life.pid
        fault = parse_do({"restart": {"part": "kafka"}})
        proof = fault.begin(Context(stack.parts, stack.kafka.direct, lambda _undo: None)).end()
        assert proof.acted
        assert stack.parts["kafka"].life.pid != before
        assert producer.send("faulty", b"after").get(DEADLINE.total_seconds()).offset == 1
