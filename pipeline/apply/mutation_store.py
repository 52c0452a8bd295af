"""What the store knows of a mutation topic: triples, the next offset, and how far both are from what was expected."""

import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from pipeline.apply.accumulate import Patch
from pipeline.apply.patch import (
    LAST_REQUEST,
    StorePosition,
    count_query,
    entity_query,
    position_query,
    position_triples,
    topic_id_query,
    version_query,
    write_first_position,
    write_topic_id,
    write_update,
)
from pipeline.apply.sparql_target import UpdateTarget
from pipeline.errors import RefusedError
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.rdf.triples import Triple

PARTITION = 0
"""The one partition of a mutation topic."""
_FROM = re.compile(r"-from-(\d+)(?:-(\d+))?(?:-torn-(\d+))?(?::cleared)?$")


@dataclass(frozen=True, slots=True)
class Divergence:
    """How a store differs from what a batch expects of it, in triples: `missing` ones of those to delete are not there,
    `unexpected` ones of those to add are. `probed` is the number of all that it was asked about.
    """

    probed: int = 0
    missing: int = 0
    unexpected: int = 0


class StoreMovedError(Exception):
    """The store has another position than the last request wrote, so requests may have had no effect: the store was
    restored from a copy, or executed a request late, or, where it `is_foreign`, another process writes to it. It
    `is_stuck` where the position is the one that was adopted.
    """

    def __init__(self, offset: int | None, *, is_foreign: bool = False, is_stuck: bool = False) -> None:
        super().__init__(f"the store's next offset is {offset}")
        self.offset, self.is_foreign, self.is_stuck = offset, is_foreign, is_stuck


class MutationStore:
    """The store as one process writes to it. Its methods raise what the target's do.

    Each request takes effect only where the store has the very position that the request before it wrote, and writes
    one of its own that no other request has. So a request that the store executes late, or again, changes nothing. Of
    two processes on one topic the one that called `write_offset` last has the store: no request of the other takes
    effect from then on, and its next `confirm` says so.

    A store may let other requests come between the condition of an operation and its changes, as Oxigraph does when
    they reach it at the same moment. Then one of them may undo what the other has done. But both leave their ids, and
    an id ends with the offsets from which its request went on. So the position has the least of these offsets, from
    where all that either has touched is applied again; and ids say up to where that is until it is done.
    """

    def __init__(
        self,
        target: UpdateTarget,
        namespaces: ConceptNamespaces,
        topic: str,
        *,
        graph: str | None = None,
        atomic: bool = True,
    ) -> None:
        """`atomic` is whether the target executes a request as one transaction."""
        self._target, self._namespaces, self._topic = target, namespaces, topic
        self._graph, self._atomic = graph, atomic
        self._writer, self._numbers = uuid.uuid4().hex, count(1)
        self._adopted: StorePosition | None = None
        self._expected: StorePosition | None = None

    def next_offset(self) -> int | None:
        """The next offset in the store; None where it has none. Raises RefusedError where it has several, or no
        number.
        """
        position = self._read_position()
        return None if position is None else position.next_offset

    def adopt(self) -> int | None:
        """The same; the next request goes on from the position that the store has now."""
        self._adopted = self._expected = self._read_position()
        return None if self._adopted is None else self._adopted.next_offset

    @property
    def applied_offset(self) -> int | None:
        """Every mutation that ends before it is in the store that was adopted; None where the store does not say."""
        return None if self._adopted is None else self._adopted.applied_offset

    @property
    def torn_until(self) -> int:
        """What ends before it may be in the store that was adopted by a part; 0 where nothing is."""
        return 0 if self._adopted is None else self._adopted.torn_until

    def select_owned(self, triples: Iterable[Triple]) -> Iterator[Triple]:
        """Those whose subjects are entities, their parts and their statements, and no pages."""
        return (triple for triple in triples if triple.startswith(self._namespaces.entity))

    def write_offset(self, next_offset: int, applied_offset: int | None = None) -> None:
        """Set the offsets of the store that was adopted, or that has none, and change no other triple; without the
        second one nothing behind the first is known to be applied. Requests of processes that were here before have no
        effect from then on. Raises RefusedError where one came meanwhile.
        """
        position = self._position(next_offset, next_offset if applied_offset is None else applied_offset)
        if self._adopted is None:
            text = write_first_position(position, graph=self._graph)
        else:
            text = self._text(Patch(), position, self._expected)
        self._target.update(text)
        if self._read_position() != position:
            raise RefusedError(
                f"another process has written the next offset of topic {self._topic} into the store meanwhile",
                hint="one process may apply a topic to a store: end the other one, then start again",
            )
        self._adopted, self._expected = self._adopted or position, position

    def topic_ids(self) -> frozenset[str]:
        """Kafka's id of the topic that the next offset is of; none where an earlier version has written that."""
        return frozenset(
            row["id"] for row in self._target.select(topic_id_query(self._topic, PARTITION, graph=self._graph))
        )

    def write_topic_id(self, topic_id: str) -> None:
        """Set it; `write_offset` comes before that."""
        assert self._expected is not None, "without an expected position the request is unconditional"
        self._target.update(write_topic_id(topic_id, self._expected, graph=self._graph))

    def confirm(self) -> None:
        """Returns where all requests so far took effect. Raises StoreMovedError elsewhere; the next request then goes
        on from the position that the store has now.
        """
        adopted, expected = self._adopted, self._expected
        if self.adopt() == (None if expected is None else expected.next_offset) and self._expected == expected:
            self._adopted = adopted
            return
        found = self._adopted
        if found is None or adopted is None:
            raise StoreMovedError(None if found is None else found.next_offset)
        # A copy from before the position that was adopted may have any request of a process that was here before.
        known = {*adopted.triples, *(triple for triple in found.triples if f' "{self._writer}-' in triple)}
        requests = {triple for triple in found.triples if LAST_REQUEST in triple}
        raise StoreMovedError(
            found.next_offset,
            is_foreign=not requests <= known and found.next_offset >= adopted.next_offset,
            is_stuck=found == adopted,
        )

    def apply(self, patch: Patch, next_offset: int, applied_offset: int | None = None) -> None:
        """Change the triples and the offsets in one request, which has no effect where the store was moved: see
        `confirm`. The store was adopted before. Without a second offset it is the first one.
        """
        assert self._expected is not None, "without an expected position the request is unconditional"
        position = self._position(next_offset, next_offset if applied_offset is None else applied_offset)
        self._target.update(self._text(patch, position, self._expected))
        self._expected = position

    def apply_triples(self, patch: Patch) -> None:
        """Change the triples, whatever position the store has, and leave that as it is."""
        if text := self._text(patch, None, None):
            self._target.update(text)

    def _text(self, patch: Patch, position: StorePosition | None, expected: StorePosition | None) -> str:
        return write_update(
            patch, position, self._namespaces, graph=self._graph, expected=expected, atomic=self._atomic
        )

    def _position(self, next_offset: int, applied_offset: int) -> StorePosition:
        start, applied, torn_until = next_offset, applied_offset, 0
        if (before := self._expected) is not None:
            start, torn_until = before.next_offset, before.torn_until if before.torn_until > applied_offset else 0
            applied = start if before.applied_offset is None else before.applied_offset
        request = f"{self._writer}-{next(self._numbers)}-from-{start}-{applied}"
        if torn_until:
            request += f"-torn-{torn_until}"
        return StorePosition(self._topic, PARTITION, next_offset, request, applied_offset, torn_until)

    def _read_position(self) -> StorePosition | None:
        rows = self._target.select(position_query(self._topic, PARTITION, graph=self._graph))
        texts, applied, requests = (
            sorted({row[name] for row in rows if name in row}) for name in ("offset", "applied", "request")
        )
        if not rows:
            return None
        starts = [start for request in requests if (start := _FROM.search(request))]
        is_overlap = len(requests) > 1 and len(starts) == len(requests)
        has_several = max(map(len, (texts, applied, requests))) > 1
        if not all(text.isdecimal() for text in (*texts, *applied)) or (has_several and not is_overlap):
            raise RefusedError(
                f"the store has no single next offset of topic {self._topic}, but {', '.join(texts)[:200]}",
                hint="something else has written to the store: load it again",
            )
        offsets, applied_offsets = [int(text) for text in texts], [int(text) for text in applied]
        torn = [int(start[3]) for start in starts if start[3]]
        if not is_overlap:
            return StorePosition(
                self._topic,
                PARTITION,
                offsets[0],
                requests[0] if requests else None,
                applied_offsets[0] if applied else None,
                max(torn, default=0),
            )
        triples = position_triples(self._topic, PARTITION, offsets, requests, applied_offsets)
        return StorePosition(
            self._topic,
            PARTITION,
            min(*offsets, *(int(start[1]) for start in starts)),
            applied_offset=min(*(applied_offsets or offsets), *(int(start[2] or start[1]) for start in starts)),
            torn_until=max(*offsets, *applied_offsets, *torn),
            stored=triples,
        )

    def revisions(self, entities: Sequence[str]) -> dict[str, int]:
        """The revision of each entity in the store, the last one of several, and 0 where it has none, as a redirect;
        without those that it does not have.
        """
        if not entities:
            return {}
        ids = {self._namespaces.entity_node(entity)[1:-1]: entity for entity in entities}
        revisions: dict[str, int] = {}
        for row in self._target.select(version_query([f"<{iri}>" for iri in ids], graph=self._graph)):
            entity, text = ids[row["entity"]], row.get("version", "")
            revisions[entity] = max(revisions.get(entity, 0), int(text) if text.isdecimal() else 0)
        return revisions

    def other_concept_base(self) -> str | None:
        """The base of an entity in the store, where none is below the namespace that deletes ask for; else None."""
        rows = self._target.select(entity_query(graph=self._graph))
        entity = self._namespaces.entity.removeprefix("<")
        if not rows or rows[0]["entity"].startswith(entity):
            return None
        if self._target.select(entity_query(entity, graph=self._graph)):
            return None
        return rows[0]["entity"].rpartition("/entity/")[0] or rows[0]["entity"]

    def measure_divergence(self, present: Sequence[Triple], absent: Sequence[Triple]) -> Divergence:
        """Asks for triples that should be there, and for others that should not."""
        return Divergence(
            len(present) + len(absent), len(present) - self._count(present) if present else 0, self._count(absent)
        )

    def _count(self, triples: Sequence[Triple]) -> int:
        if not triples:
            return 0
        (row,) = self._target.select(count_query(triples, graph=self._graph))
        return int(row["count"])
