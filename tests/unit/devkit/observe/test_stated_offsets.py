import json
import os
from pathlib import Path
from typing import Any

import pytest
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

from devkit.errors import StackError
from devkit.observe.checkpoint import Offsets
from devkit.observe.figures import CheckpointSize
from devkit.observe.stated_offsets import StatedOffsets, StatedOffsetsReader

TOPIC = "source"
ENDS: Offsets = {(TOPIC, 0): 40, (TOPIC, 1): 7}
BEGAN_MS = 1_000_000


class Consumer:
    def __init__(self, committed: dict[int, int | None] | KafkaError) -> None:
        self._committed, self.is_closed = committed, False

    def partitions_for_topic(self, topic: str) -> set[int]:
        return {0, 1} if topic == TOPIC else set()

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

    def begun(offsets: Offsets) -> int:
        return sum(offset > 0 for offset in offsets.values())

    return StatedOffsetsReader("127.0.0.1:1", (TOPIC,), ENDS, BEGAN_MS, begun, connect)


@pytest.mark.parametrize(
    ("committed", "read", "problem"),
    [
        ({0: 40, 1: 7}, 2, ""),
        ({0: 40, 1: None}, 1, ""),
        ({0: 40, 1: 0}, 1, ""),
        ({}, 0, "consumer group mine has no committed offset of source"),
        ({0: -1}, 0, "consumer group mine has no committed offset of source"),
        (
            {0: 41},
            0,
            "consumer group mine: offset 41 of source/0 is beyond its end 40, so it is not of this arm",
        ),
    ],
)
def test_offsets_of_a_group(committed: dict[int, int | None], read: int, problem: str) -> None:
    consumer = Consumer(committed)
    found = reader(consumer).read({"group": "mine"})
    assert found == StatedOffsets("consumer group mine", read, None, problem)
    assert consumer.is_closed


def test_a_broker_that_does_not_answer_is_an_error() -> None:
    consumer = Consumer(KafkaError("gone"))
    with pytest.raises(StackError, match=r"what group mine has committed: .*gone"):
        reader(consumer).read({"group": "mine"})
    assert consumer.is_closed


@pytest.mark.parametrize(
    ("content", "read", "problem"),
    [
        ({TOPIC: {"0": 40, "1": 3}}, 2, ""),
        ({TOPIC: {"0": 40}, "another": {"5": 9}}, 1, ""),
        ({}, 0, "has no committed offset of source"),
        ({"another": {"0": 40}}, 0, "has no committed offset of source"),
        ({TOPIC: {"0": 99}}, 0, "offset 99 of source/0 is beyond its end 40"),
        ({TOPIC: {"2": 1}}, 0, "offset 1 of source/2 is beyond its end 0"),
        ({TOPIC: {"0": -1}}, 0, "source.0: Input should be greater than or equal to 0"),
        ({TOPIC: 40}, 0, 'has not the form {"TOPIC": {"PARTITION": OFFSET}}: source'),
        ("nothing", 0, "has not the form"),
    ],
)
def test_offsets_of_a_file(tmp_path: Path, content: object, read: int, problem: str) -> None:
    file = tmp_path / "offsets.json"
    file.write_text(json.dumps(content))
    found = reader().read({"file": str(file)})
    assert (found.partitions_read, found.place) == (read, f"file {file}")
    assert problem in found.problem
    assert bool(found.problem) == bool(problem)
    assert found.size == (None if problem else CheckpointSize(file.stat().st_size, 1))


def test_a_file_of_an_earlier_arm_shows_nothing(tmp_path: Path) -> None:
    file = tmp_path / "offsets.json"
    file.write_text(json.dumps({TOPIC: {"0": 40}}))
    os.utime(file, ns=(0, (BEGAN_MS - 1) * 1_000_000))
    assert reader().read({"file": str(file)}).problem == f"file {file} was not written in this arm"


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    file = tmp_path / "offsets.json"
    file.write_bytes(b" " * ((1 << 20) + 1))
    assert reader().read({"file": str(file)}).problem == f"file {file} is larger than 1MiB"


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
