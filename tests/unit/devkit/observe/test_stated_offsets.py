"""Offsets as a program states them, or as `apply` leaves them in the store or commits them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

from devkit.errors import PartError, StackError
from devkit.observe.applied_offsets import OffsetInStore, OffsetOfGroup
from devkit.observe.checkpoint import of_topic
from devkit.observe.figures import CheckpointSize
from devkit.observe.kafka.group_offsets import GroupOffsets
from devkit.observe.stated_offsets import StatedOffsets, StatedOffsetsReader
from pipeline.apply.accumulate import Patch
from pipeline.apply.mutation_store import PARTITION
from pipeline.apply.patch import StorePosition, write_update
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from tests.unit.devkit.observe.memory_store import MemoryStore

TOPIC = "source"
ENDS = {TOPIC: {0: 40, 1: 7}}
BEGAN_MS = 1_000_000


class Consumer:
    def __init__(self, committed: dict[int, int | None] | KafkaError) -> None:
        self._committed, self.is_closed = committed, False

    def partitions_for_topic(self, topic: str) -> set[int]:
        assert topic == TOPIC
        return {0, 1}

    def committed(self, place: TopicPartition) -> int | None:
        if isinstance(self._committed, KafkaError):
            raise self._committed
        return self._committed.get(place.partition)

    def close(self) -> None:
        self.is_closed = True


def reader(consumer: Consumer | None = None) -> StatedOffsetsReader:
    def connect(bootstrap: str, *, group_id: str) -> Any:
        assert (bootstrap, group_id) == ("127.0.0.1:1", "mine")
        return consumer

    return StatedOffsetsReader("127.0.0.1:1", (TOPIC,), lambda topic: ENDS[topic], lambda: BEGAN_MS, connect)


@pytest.mark.parametrize(
    ("committed", "offsets", "problem"),
    [
        ({0: 40, 1: 7}, {0: 40, 1: 7}, ""),
        ({0: 40, 1: None}, {0: 40}, ""),
        ({0: 40, 1: 0}, {0: 40, 1: 0}, ""),
        ({}, {}, "consumer group mine has no committed offset of source"),
        ({0: -1}, {}, "consumer group mine has no committed offset of source"),
        ({0: 41}, {}, "consumer group mine: offset 41 of source/0 is beyond its end 40, so it is not of this arm"),
    ],
)
def test_offsets_of_a_group(committed: dict[int, int | None], offsets: dict[int, int], problem: str) -> None:
    consumer = Consumer(committed)
    read = reader(consumer)
    found = StatedOffsets("consumer group mine", of_topic(TOPIC, offsets), None, problem)
    assert [read.read({"group": "mine"}) for _ in range(2)] == [found, found]
    assert not consumer.is_closed
    read.close()
    assert consumer.is_closed


def test_another_group_is_another_connection() -> None:
    asked: list[tuple[str, Consumer]] = []

    def connect(_bootstrap: str, *, group_id: str) -> Any:
        asked.append((group_id, Consumer({0: len(asked)})))
        return asked[-1][1]

    read = StatedOffsetsReader("127.0.0.1:1", (TOPIC,), lambda topic: ENDS[topic], lambda: BEGAN_MS, connect)
    offsets = [read.read({"group": group}).offsets for group in ("a", "b", "b")]
    assert offsets == [{(TOPIC, 0): offset} for offset in (0, 1, 1)]
    assert [(group, consumer.is_closed) for group, consumer in asked] == [("a", True), ("b", False)]


def test_a_broker_that_does_not_say_it_is_an_error() -> None:
    with pytest.raises(StackError, match=r"what group mine has committed: .*gone"):
        reader(Consumer(KafkaError("gone"))).read({"group": "mine"})


@pytest.mark.parametrize(
    ("content", "offsets", "problem"),
    [
        ({TOPIC: {"0": 40, "1": 3}}, {0: 40, 1: 3}, ""),
        ({TOPIC: {"0": 40}, "another": {"5": 9}}, {0: 40}, ""),
        ({}, {}, "has no committed offset of source"),
        ({"another": {"0": 40}}, {}, "has no committed offset of source"),
        ({TOPIC: {"0": 99}}, {}, "offset 99 of source/0 is beyond its end 40"),
        ({TOPIC: {"2": 1}}, {}, "offset 1 of source/2 is beyond its end 0"),
        ({TOPIC: {"0": -1}}, {}, "source.0: Input should be greater than or equal to 0"),
        ({TOPIC: 40}, {}, 'has not the form {"TOPIC": {"PARTITION": OFFSET}}: source'),
        ("nothing", {}, "has not the form"),
    ],
)
def test_offsets_of_a_file(tmp_path: Path, content: object, offsets: dict[int, int], problem: str) -> None:
    file = tmp_path / "offsets.json"
    file.write_text(json.dumps(content))
    found = reader().read({"file": str(file)})
    assert (found.offsets, found.place) == (of_topic(TOPIC, offsets), f"file {file}")
    assert problem in found.problem
    assert bool(found.problem) == bool(problem)
    assert found.size == (None if problem else CheckpointSize(file.stat().st_size, 1))


@pytest.mark.parametrize(
    ("content", "at_ms", "problem"),
    [
        (json.dumps({TOPIC: {"0": 40}}), BEGAN_MS - 1, "was not written in this arm"),
        (" " * ((1 << 20) + 1), BEGAN_MS, "is larger than 1MiB"),
    ],
    ids=["of an earlier arm", "too large"],
)
def test_a_file_that_shows_nothing(tmp_path: Path, content: str, at_ms: int, problem: str) -> None:
    file = tmp_path / "offsets.json"
    file.write_text(content)
    os.utime(file, ns=(0, at_ms * 1_000_000))
    assert reader().read({"file": str(file)}).problem == f"file {file} {problem}"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, "write either group or file"),
        ({"group": "a", "file": "/b"}, "write either group or file"),
        ({"file": "b.json"}, "file 'b.json' is relative; write the absolute path"),
        ({"group": ""}, "group: String should have at least 1 character"),
        ({"grop": "a"}, "grop: Extra inputs are not permitted"),
        ({"file": "/nowhere/offsets.json"}, "file /nowhere/offsets.json cannot be read: No such file or directory"),
    ],
)
def test_a_statement_that_leads_nowhere(fields: dict[str, Any], problem: str) -> None:
    assert problem in reader().read(fields).problem


@pytest.mark.parametrize("graph", [None, "http://wiki/graph"])
def test_the_triple_that_the_pipeline_writes_is_read(graph: str | None) -> None:
    store = MemoryStore()
    look = OffsetInStore(store, TOPIC, graph).look
    assert look() is None
    for offset in (7, 12):
        position = StorePosition(TOPIC, PARTITION, offset)
        store.change(write_update(Patch(), position, ConceptNamespaces("http://wiki"), graph=graph))
        assert look() == {(TOPIC, 0): offset}
    assert OffsetInStore(store, "another").look() is None


def test_a_store_that_does_not_answer_is_an_error_soon() -> None:
    class Silent(MemoryStore):
        def select(self, query: str, timeout_s: float = 60.0) -> dict[str, Any]:
            assert timeout_s < 10
            raise PartError("no answer", "triple-store")

    with pytest.raises(PartError, match="no answer"):
        OffsetInStore(Silent(), TOPIC).look()


@pytest.mark.parametrize(("committed", "found"), [(None, None), (-1, None), (0, {(TOPIC, 0): 0}), (9, {(TOPIC, 0): 9})])
def test_what_the_group_has_committed(committed: int | None, found: dict[tuple[str, int], int] | None) -> None:
    consumer, asked = Consumer({0: committed}), list[Any]()

    def connect(bootstrap: str, *, group_id: str) -> Any:
        asked.append((bootstrap, group_id))
        return consumer

    offsets = OffsetOfGroup(GroupOffsets("127.0.0.1:1", "mine", connect), TOPIC)
    assert (offsets.look(), offsets.look()) == (found, found)
    assert asked == [("127.0.0.1:1", "mine")]
    offsets.close()
    assert consumer.is_closed
