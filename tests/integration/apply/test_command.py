"""`python -m pipeline apply` with a topic in memory and a real store."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pipeline.__main__ import main
from pipeline.apply import command
from pipeline.apply.mutation_store import MutationStore
from pipeline.apply.sparql_target import SparqlTarget
from pipeline.ops.source import Bounds
from pipeline.records.record import Record
from tests.oxigraph_server import OxigraphServer
from tests.unit.pipeline.apply.fake_parts import FakeTopic, place_records, settings_of
from tests.unit.pipeline.apply.mutations import TOPIC
from tests.unit.pipeline.apply.test_applier import IMPORT_Q1, IMPORT_Q2, TO_B, A, B
from tests.unit.pipeline.rdf.turtle_texts import NAMESPACES, triples_of
from tests.unit.signal_handlers import restored_handlers

ROOMS = ("pipeline/apply",)

Start = Callable[..., Result]


@dataclass
class WholeTopic(FakeTopic):
    """A topic that ends the process by SIGTERM when nothing more comes."""

    first: int = 0
    group_offset: int | None = None
    signals: int = 1
    topic_id: str | None = "first"
    closed_at: list[int | None] = field(default_factory=list)

    def id(self) -> str | None:
        return self.topic_id

    def bounds(self) -> Bounds:
        return Bounds({0: self.first}, {0: len(self.records)})

    def offset_at(self, timestamp_ms: int, _bounds: Bounds) -> int:
        assert timestamp_ms == 1_772_442_000_000
        return 1

    def committed_offset(self) -> int | None:
        return self.group_offset

    def poll(self, timeout_s: float) -> Any:
        polled = super().poll(timeout_s)
        if not polled:
            for _ in range(self.signals):
                os.kill(os.getpid(), signal.SIGTERM)
        return polled

    def close(self, offset: int | None = None) -> None:
        self.closed_at.append(offset)


def topic_of(*records: Record, **settings: Any) -> WholeTopic:
    return WholeTopic(place_records(records), **settings)


@pytest.fixture
def start(tmp_path: Path, server: OxigraphServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts the command with a topic; the handlers of this process's signals come back at the end."""

    def go(topic: WholeTopic, *arguments: str, **apply: Any) -> Result:
        monkeypatch.setattr(command, "open_topic", lambda _config: topic)
        file = tmp_path / "apply.yaml"
        settings = {"endpoint": server.update_url, "concept_base": NAMESPACES.base, "timeout": "5s"} | apply
        file.write_text(json.dumps({"source": {"bootstrap_servers": "a:1", "topic": TOPIC}, "apply": settings}))
        return CliRunner().invoke(main, ["apply", "--config", str(file), *arguments])

    with restored_handlers():
        yield go


@pytest.fixture
def store(server: OxigraphServer) -> MutationStore:
    target = SparqlTarget(settings_of(endpoint=server.update_url), lambda _: False)
    return MutationStore(target, NAMESPACES, TOPIC)


def logged(result: Result) -> dict[str, dict[str, Any]]:
    return {line["event"]: line for line in map(json.loads, result.stdout.splitlines())}


def test_a_new_store_then_the_same_one_again(start: Start, store: MutationStore) -> None:
    topic = topic_of(*IMPORT_Q1)
    result = start(topic, "--new", "earliest")
    events = logged(result)
    assert (result.exit_code, result.stderr) == (0, "")
    assert list(events) == ["configuration", "apply_started", "stopping", "mutations_applied", "stopped"]
    assert events["configuration"]["effective"]["apply"]["batch_triples"] == 1_000
    assert (events["apply_started"]["kept_in"], events["apply_started"]["behind"]) == ("new", 1)
    assert (topic.closed_at, store.next_offset()) == ([1], 1)
    events = logged(start(topic_of(*IMPORT_Q1, *TO_B, group_offset=1)))
    assert (events["apply_started"]["kept_in"], events["apply_started"]["next_offset"]) == ("store", 1)
    assert "store_rewound" not in events
    assert store.measure_divergence(triples_of(B), triples_of(A)).missing == 0
    assert store.next_offset() == 2


@pytest.mark.parametrize(("new", "offset"), [("earliest", 0), ("latest", 2), ("timestamp=2026-03-02T09:00:00Z", 1)])
def test_a_new_start_writes_its_offset_before_it_reads(
    start: Start, store: MutationStore, monkeypatch: pytest.MonkeyPatch, new: str, offset: int
) -> None:
    topic = topic_of(*IMPORT_Q1, *TO_B)
    kept = []
    monkeypatch.setattr(topic, "read_from", lambda first: kept.append((first, store.next_offset())))
    assert start(topic, "--new", new).exit_code == 0
    assert kept == [(offset, offset)]


def test_a_topic_that_was_made_again_needs_a_new_start(start: Start, store: MutationStore) -> None:
    """A store of an earlier version has no id yet, and a broker may have none."""
    store.write_offset(0)
    assert start(topic_of(*IMPORT_Q1, topic_id=None)).exit_code == 0
    assert store.topic_ids() == set()
    assert start(topic_of(*IMPORT_Q1)).exit_code == 0
    assert store.topic_ids() == {"first"}
    result = start(topic_of(*IMPORT_Q2, topic_id="second"))
    assert (result.exit_code, store.next_offset(), store.topic_ids()) == (2, 1, {"first"})
    assert "offset 1 of a topic rdf.mutation with id first, and the id is second now" in result.stderr
    assert "--new earliest" in result.stderr
    events = logged(start(topic_of(*IMPORT_Q2, topic_id="second", group_offset=2), "--new", "earliest"))
    assert (events["apply_started"]["kept_in"], events["apply_started"]["next_offset"]) == ("new", 0)
    assert "store_rewound" not in events
    assert (store.next_offset(), store.topic_ids()) == (2, {"second"})
    assert start(topic_of(*IMPORT_Q2, topic_id="second")).exit_code == 0
    assert start(topic_of(*IMPORT_Q2, topic_id="second"), "--new", "earliest").exit_code == 2


def test_a_store_that_is_behind_kafka_says_so(start: Start, store: MutationStore) -> None:
    store.write_offset(0)
    events = logged(start(topic_of(*IMPORT_Q1, *TO_B, group_offset=2)))
    assert (events["store_rewound"]["store_offset"], events["store_rewound"]["expected_offset"]) == (0, 2)
    assert store.next_offset() == 2


@pytest.mark.parametrize(
    ("stored", "first", "arguments", "message"),
    [
        (None, 0, [], "the store has no offset of topic rdf.mutation to continue from"),
        (1, 0, ["--new", "latest"], "--new latest would not be obeyed"),
        (1, 2, [], "which now begins at 2: 1 records are gone"),
        (7, 0, [], "which ends at 2: the topic was made again"),
        (None, 0, ["--new", "tomorrow"], "no such start position"),
    ],
)
def test_a_start_that_is_refused(
    start: Start, store: MutationStore, stored: int | None, first: int, arguments: list[str], message: str
) -> None:
    if stored is not None:
        store.write_offset(stored)
    result = start(topic_of(*IMPORT_Q1, *TO_B, first=first), *arguments)
    failed = logged(result)["failed"]
    assert (result.exit_code, failed["refused"], message in failed["error"]) == (2, True, True)
    assert message in result.stderr
    assert store.next_offset() == stored


def test_an_unsafe_policy_needs_to_be_allowed(start: Start) -> None:
    refused = start(topic_of(), "--new", "earliest", offset="kafka", deletes="ignore")
    assert (refused.exit_code, "unsafe: apply.offset: kafka, apply.deletes: ignore" in refused.stderr) == (2, True)
    topic = topic_of(*IMPORT_Q1)
    allowed = start(topic, "--new", "earliest", "--allow-unsafe", offset="kafka")
    assert (allowed.exit_code, logged(allowed)["configuration"]["unsafe"]) == (0, ["apply.offset: kafka"])
    assert (topic.committed, topic.reported, topic.closed_at) == ([0, 1], [], [None])


def test_with_the_offset_in_kafka_a_restart_continues_there(start: Start, store: MutationStore) -> None:
    topic = topic_of(*IMPORT_Q1, *TO_B, group_offset=1)
    events = logged(start(topic, "--allow-unsafe", offset="kafka"))
    assert (events["apply_started"]["kept_in"], events["apply_started"]["next_offset"]) == ("kafka", 1)
    assert (topic.committed, store.next_offset()) == ([2], None)


def test_a_mutation_that_cannot_be_read_ends_the_process(start: Start, store: MutationStore) -> None:
    broken = Record(TOPIC, b"Q1", b"{", ())
    result = start(topic_of(*IMPORT_Q1, broken, *IMPORT_Q2), "--new", "earliest")
    assert (result.exit_code, store.next_offset()) == (2, 0)
    assert "record rdf.mutation/0/1: mutation at offset 1 is not JSON" in result.stderr


def test_a_stop_ends_the_wait_for_a_store(
    start: Start, server: OxigraphServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = topic_of(*IMPORT_Q1)
    poll = topic.poll

    def poll_and_kill(timeout_s: float) -> Any:
        server.kill()
        return poll(timeout_s)

    monkeypatch.setattr(topic, "poll", poll_and_kill)
    result = start(topic, "--new", "earliest")
    assert (result.exit_code, topic.closed_at) == (0, [0])
    assert list(logged(result))[-3:] == ["stopping", "triple_store_down", "stopped"]


def test_a_second_signal_ends_it_at_once(start: Start) -> None:
    result = start(topic_of(*IMPORT_Q1, signals=2), "--new", "earliest")
    assert (result.exit_code, "as a second signal came" in result.stderr) == (3, True)


def test_what_refuses_requests_ends_the_start(start: Start, server: OxigraphServer) -> None:
    url = server.update_url.replace("update", "nothing")
    result = start(topic_of(*IMPORT_Q1), "--new", "earliest", endpoint=url)
    assert (result.exit_code, f"{url} does not take a request" in result.stderr) == (2, True)
