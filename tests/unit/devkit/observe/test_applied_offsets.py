"""How far `apply` has come: by the triple in the store, or by what its group has committed."""

from typing import Any

import pytest
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

from devkit.errors import PartError, StackError
from devkit.observe.applied_offsets import OffsetInStore, OffsetOfGroup
from devkit.observe.kafka.group_offsets import GroupOffsets
from pipeline.apply.accumulate import Patch
from pipeline.apply.mutation_store import PARTITION
from pipeline.apply.patch import StorePosition, write_update
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from tests.unit.devkit.observe.memory_store import MemoryStore

TOPIC = "rdf.mutation"


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


class Consumer:
    def __init__(self, committed: int | KafkaError | None) -> None:
        self._committed, self.is_closed = committed, False

    def partitions_for_topic(self, topic: str) -> set[int]:
        return {0} if topic == TOPIC else set()

    def committed(self, place: TopicPartition) -> int | None:
        assert place == TopicPartition(TOPIC, 0)
        if isinstance(self._committed, KafkaError):
            raise self._committed
        return self._committed

    def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize(("committed", "found"), [(None, None), (-1, None), (0, {(TOPIC, 0): 0}), (9, {(TOPIC, 0): 9})])
def test_what_the_group_has_committed(committed: int | None, found: dict[tuple[str, int], int] | None) -> None:
    consumer, asked = Consumer(committed), list[Any]()

    def connect(bootstrap: str, *, group_id: str) -> Any:
        asked.append((bootstrap, group_id))
        return consumer

    offsets = OffsetOfGroup(GroupOffsets("127.0.0.1:1", "mine", connect), TOPIC)
    assert (offsets.look(), offsets.look()) == (found, found)
    assert asked == [("127.0.0.1:1", "mine")]
    offsets.close()
    assert consumer.is_closed


def test_a_broker_that_does_not_answer_is_an_error() -> None:
    offsets = OffsetOfGroup(GroupOffsets("127.0.0.1:1", "mine", lambda _at, **_: Consumer(KafkaError("gone"))), TOPIC)
    with pytest.raises(StackError, match="what group mine has committed"):
        offsets.look()
