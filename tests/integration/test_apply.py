"""`python -m pipeline apply` from a real broker into a real triple store, with a chunk in a real object store.

Set-up: a topic of one partition, an empty store. Steps: the start without `--new` is refused; with it the mutations of
the topic are applied; SIGTERM ends it; more mutations are applied, and the store is replaced by its older copy; the
next start says so, and applies what the copy lacks; the topic loses its first records, and a store without an offset in
the rest is refused; and so is a topic that was made again, even where it is longer than the first one was.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.structs import TopicPartition

from devkit.guardian import Guardian
from devkit.stack.stack import CLAIM_CHECKS, Stack
from devkit.stack.topics import recreate_topics
from devkit.waiting import wait_until
from pipeline.apply.mutation_store import MutationStore
from pipeline.apply.sparql_target import SparqlTarget
from pipeline.config.apply_config import Apply
from pipeline.config.pipeline_config import ClaimCheck
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.rdf.mutation import mutation_records
from pipeline.rdf.operation import Op, Operation
from pipeline.rdf.revision_diff import TripleDiff
from pipeline.records.claim_check import ClaimStore
from pipeline.records.record import Position, Record
from tests.oxigraph_server import OxigraphServer, free_port

ROOMS = ("pipeline/apply",)
TOPIC = "apply.mutations"
BASE = "http://wiki.example"
REPOSITORY = Path(__file__).parents[2]
DEADLINE = timedelta(seconds=30)


def triple(entity: str, value: str) -> str:
    return f'<{BASE}/entity/{entity}> <{BASE}/prop/direct/P1> "{value}" .'


def mutation(entity: str, op: Op, seq: int, diff: TripleDiff, *, characters: int = 128_000) -> list[Record]:
    operation = Operation(entity, op, seq, None, "2026-03-02T09:00:00Z", seq, (Position("source", 0, seq),))
    made = mutation_records(operation, diff, topic=TOPIC, domain="wiki.example", characters=characters)
    return [chunk.record for chunk in made]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[OxigraphServer]:
    directory = tmp_path / "oxigraph"
    directory.mkdir()
    server = OxigraphServer(directory, free_port())
    server.start()
    yield server
    server.kill()


@pytest.fixture
def config(stack: tuple[Guardian, Stack], server: OxigraphServer, tmp_path: Path) -> Path:
    running = stack[1]
    file = tmp_path / "apply.yaml"
    file.write_text(
        json.dumps(
            {
                "source": {"bootstrap_servers": running.kafka.bootstrap, "topic": TOPIC},
                "apply": {"endpoint": server.update_url, "concept_base": BASE, "count": "probe", "timeout": "10s"},
                "claim_check": {"endpoint": running.object_store.endpoint, "bucket": CLAIM_CHECKS},
                "metrics": {"port": 0, "lag_interval": "200ms"},
            }
        )
    )
    return file


@contextmanager
def running_apply(config: Path, stack: Stack, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    with (config.parent / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "pipeline", "apply", "--config", config, *arguments],
            cwd=REPOSITORY,
            env=os.environ | stack.object_store.credentials(),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def logged(config: Path) -> dict[str, dict[str, Any]]:
    """The last line of each event."""
    lines = (config.parent / "log").read_text().splitlines()
    return {line["event"]: line for line in (json.loads(text) for text in lines if text.startswith("{"))}


def produce(stack: Stack, records: list[Record]) -> None:
    with closing(KafkaProducer(bootstrap_servers=stack.kafka.direct, acks="all")) as producer:
        for record in records:
            producer.send(record.topic, record.value, record.key, list(record.headers)).get(30)


def apply_all(config: Path, stack: Stack, store: MutationStore, end: int, *arguments: str) -> dict[str, dict[str, Any]]:
    """Until the store has that offset; then it is stopped."""
    with running_apply(config, stack, *arguments) as process:

        def is_at_end() -> bool:
            assert process.poll() is None, (config.parent / "log").read_text()
            return store.next_offset() == end

        wait_until(is_at_end, what=f"the store to have offset {end}", deadline=DEADLINE)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    return logged(config)


def test_of_two_processes_the_one_that_started_last_goes_on(
    stack: tuple[Guardian, Stack], server: OxigraphServer, config: Path, tmp_path: Path
) -> None:
    """Both read the same topic while mutations are written to it."""
    running = stack[1]
    recreate_topics(running.kafka.direct, {TOPIC: (1, {})})
    store = MutationStore(
        SparqlTarget(Apply(endpoint=server.update_url), lambda _: False), ConceptNamespaces(BASE), TOPIC
    )
    second_config = tmp_path / "second" / config.name
    second_config.parent.mkdir()
    second_config.write_text(config.read_text())
    values = [triple("Q1", str(number)) for number in range(6)]
    with running_apply(config, running, "--new", "earliest") as first:
        produce(running, mutation("Q1", "import", 1, TripleDiff(added=(values[0],))))
        wait_until(lambda: store.next_offset() == 1, what="the first process to apply", deadline=DEADLINE)
        with running_apply(second_config, running) as second:
            wait_until(lambda: "apply_started" in logged(second_config), what="the second process", deadline=DEADLINE)
            for seq in range(2, 7):
                diff = TripleDiff(added=(values[seq - 1],), deleted=(values[seq - 2],))
                produce(running, mutation("Q1", "diff", seq, diff))
            assert first.wait(30) == 2
            wait_until(lambda: store.next_offset() == 6, what="the second process to apply", deadline=DEADLINE)
            second.send_signal(signal.SIGTERM)
            assert second.wait(20) == 0
    assert "another process wrote to it" in logged(config)["failed"]["error"]
    divergence = store.measure_divergence(values[-1:], values[:-1])
    assert (divergence.missing, divergence.unexpected) == (0, 0)


def test_mutations_reach_the_store_once_also_when_it_is_restored(
    stack: tuple[Guardian, Stack], server: OxigraphServer, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = stack[1]
    recreate_topics(running.kafka.direct, {TOPIC: (1, {})})
    target = SparqlTarget(Apply(endpoint=server.update_url), lambda _: False)
    store = MutationStore(target, ConceptNamespaces(BASE), TOPIC)

    with running_apply(config, running) as process:
        assert process.wait(30) == 2
    assert "the store has no offset of topic apply.mutations" in logged(config)["failed"]["error"]

    for name, value in running.object_store.credentials().items():
        monkeypatch.setenv(name, value)
    first, second, third = (triple("Q1", value) for value in ("a", "b", "c"))
    chunks = mutation("Q1", "import", 1, TripleDiff(added=(first, second, third)), characters=100)
    assert len(chunks) == 3
    claim_checks = ClaimCheck(endpoint=running.object_store.endpoint, bucket=CLAIM_CHECKS)
    claim = ClaimStore(claim_checks).put(chunks[1].value)
    large = Record(TOPIC, chunks[1].key, b"{}", (*chunks[1].headers, *claim.headers()))
    produce(running, [*chunks[:2], chunks[0], large, chunks[2]])
    events = apply_all(config, running, store, 5, "--new", "earliest")
    assert (events["apply_started"]["kept_in"], events["apply_started"]["next_offset"]) == ("new", 0)
    assert (events["mutations_applied"]["dropped"], events["mutations_applied"]["mutations"]) == (2, 1)
    assert events["stopped"]["rounds_given_up"] == 0
    assert store.measure_divergence([first, second, third], []).missing == 0

    server.kill()
    shutil.copytree(server.directory / "data", server.directory / "copy")
    server.start()
    produce(running, mutation("Q1", "diff", 2, TripleDiff(added=(triple("Q1", "d"),), deleted=(first,))))
    events = apply_all(config, running, store, 6)
    assert "store_rewound" not in events
    server.kill()
    shutil.rmtree(server.directory / "data")
    (server.directory / "copy").rename(server.directory / "data")
    server.start()
    assert store.next_offset() == 5

    produce(running, mutation("Q2", "import", 1, TripleDiff(added=(triple("Q2", "a"),))))
    events = apply_all(config, running, store, 7)
    assert (events["store_rewound"]["store_offset"], events["store_rewound"]["expected_offset"]) == (5, 6)
    present = [second, third, triple("Q1", "d"), triple("Q2", "a")]
    divergence = store.measure_divergence(present, [first])
    assert (divergence.missing, divergence.unexpected) == (0, 0)

    store.adopt()
    store.write_offset(3)
    with closing(KafkaAdminClient(bootstrap_servers=running.kafka.direct)) as admin:
        admin.delete_records({TopicPartition(TOPIC, 0): 6})
    with running_apply(config, running) as process:
        assert process.wait(30) == 2
    assert "offset 3 of topic apply.mutations, which now begins at 6" in logged(config)["failed"]["error"]

    recreate_topics(running.kafka.direct, {TOPIC: (1, {})})
    produce(running, mutation("Q3", "import", 1, TripleDiff(added=(triple("Q3", "a"),))) * 4)
    with running_apply(config, running) as process:
        assert process.wait(30) == 2
    assert "the topic was made again" in logged(config)["failed"]["error"]
    apply_all(config, running, store, 4, "--new", "earliest")
    assert store.measure_divergence([triple("Q3", "a")], []).missing == 0
