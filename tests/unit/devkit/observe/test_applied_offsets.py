"""How far `apply` has come: by the triple in the store, or by what its group has committed."""

from typing import Any

import pytest

from devkit.errors import PartError
from devkit.observe.applied_offsets import OffsetInStore, OffsetOfGroup
from devkit.observe.kafka.group_offsets import GroupOffsets
from pipeline.apply.accumulate import Patch
from pipeline.apply.mutation_store import PARTITION
from pipeline.apply.patch import StorePosition, write_update
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from tests.unit.devkit.observe.memory_store import MemoryStore
from tests.unit.devkit.observe.test_stated_offsets import TOPIC, Consumer


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
