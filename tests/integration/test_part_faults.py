"""Faults by the levers of a part on a real broker: what it shows meanwhile, and that it works again at the end."""

import re
from collections.abc import Iterator
from contextlib import closing

import pytest
from kafka import KafkaProducer
from kafka.errors import KafkaError

from devkit.faults.do import parse_do
from devkit.faults.fault import Context, Undo
from devkit.guardian import Guardian
from devkit.stack.embedded import start_embedded
from devkit.stack.parts.liveness import answers
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics

ROOMS = ("devkit/faults",)
TOPIC = "faulty"
DEADLINE_S = 30.0


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Guardian() as guardian:
        yield start_embedded(guardian, tmp_path_factory.mktemp("stack"))


@pytest.mark.parametrize(
    ("written", "did"),
    [
        ({"pause": {"part": "kafka"}}, r"was stopped for \d+\.\d s, and it answered nothing"),
        ({"kill": {"part": "kafka"}}, "it ended with signal 9, and was started again: away for .* s of them its start"),
    ],
)
def test_a_broker_answers_nothing_until_the_fault_ends(stack: Stack, written: dict[str, object], did: str) -> None:
    recreate_topics(stack.kafka.direct, {TOPIC: (1, {})})
    plans: list[Undo] = []
    fault = parse_do(written)
    with closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap, acks="all")) as producer:
        producer.send(TOPIC, b"before").get(DEADLINE_S)
        acting = fault.begin(Context(stack.parts, stack.kafka.direct, plans.append))
        assert plans
        assert not answers(stack.parts["kafka"].address)
        waiting = producer.send(TOPIC, b"meanwhile")
        with pytest.raises(KafkaError):
            waiting.get(1)
        proof = acting.end()
        assert proof.acted
        assert re.search(f"{did}$", proof.did), proof.did
        assert waiting.get(DEADLINE_S).offset >= 1
    stack.require_running()


def test_a_restarted_broker_is_a_new_process_with_the_same_records(stack: Stack) -> None:
    recreate_topics(stack.kafka.direct, {TOPIC: (1, {})})
    with closing(KafkaProducer(bootstrap_servers=stack.kafka.bootstrap, acks="all")) as producer:
        producer.send(TOPIC, b"before").get(DEADLINE_S)
        before = stack.parts["kafka"].life.pid
        fault = parse_do({"restart": {"part": "kafka"}})
        proof = fault.begin(Context(stack.parts, stack.kafka.direct, lambda _undo: None)).end()
        assert proof.acted
        assert stack.parts["kafka"].life.pid != before
        assert producer.send(TOPIC, b"after").get(DEADLINE_S).offset == 1
