"""rdf-resolve: a mutation says what its operation says, and has exactly the difference of the two revisions."""

import functools
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import orjson
import pyoxigraph

from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.expected_output.truth import WikiAnswers
from devkit.observe.store_difference import EntityTruth
from devkit.observe.wikibase.entity_triples import Triple, entity_triples, is_shared
from devkit.traffic.records import Expected
from pipeline.config.pipeline_config import PipelineConfig

# An operation often begins at the revision that the entity's last one came to.
_KEPT_REVISIONS = 64
_PARTS = ("added", "deleted", "linked_shared", "unlinked_shared")


class RdfTruth:
    """See `JobTruth` and `SplitOutputs`."""

    def __init__(self, config: PipelineConfig, wiki: WikiAnswers) -> None:
        self._stream, self._wiki, self._body = config.sink.topic, config.rdf.wiki, wiki.body
        self._kept = functools.lru_cache(maxsize=_KEPT_REVISIONS)(self._read)

    def expected(self, topic: str, value: bytes, stated: Expected) -> Expected:  # noqa: ARG002 - part of the interface
        """As the generator states it."""
        return stated

    def key(self, event: SourceEvent) -> bytes:
        """The source's: the entity."""
        return event.key

    def part(self, value: bytes) -> tuple[int, int] | None:
        """Its number and that of all; None where the record does not say it."""
        try:
            event = orjson.loads(value)
            return int(event["sequence"]), int(event["sequence_length"])
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            return None

    def stored(self, events: Sequence[SourceEvent]) -> Iterator[EntityTruth]:
        """By the last operation of each entity that has to end as output."""
        last: dict[str, dict[str, Any]] = {}
        for event in events:
            if event.entry.expected.fate == "output":
                operation = orjson.loads(event.value)
                entity = operation["entity"]
                if entity not in last or operation["seq"] >= last[entity]["seq"]:
                    last[entity] = operation
        for entity, operation in last.items():
            is_deleted = operation["op"] == "delete"
            yield EntityTruth(entity, frozenset() if is_deleted else self.entity_triples(entity, operation["rev"]))

    def entity_triples(self, entity: str, revision: int) -> frozenset[Triple]:
        """All triples that a store has to have of an entity at a revision, shared ones as well. The last few are kept.
        Raises StackError where the wiki has no such revision.
        """
        return self._kept(entity, revision)

    def output(self, event: SourceEvent) -> "ExpectedMutation":
        """With the triples of both revisions."""
        operation = orjson.loads(event.value)
        entity, before, after = operation["entity"], operation.get("from_rev"), operation["rev"]
        return ExpectedMutation(
            operation,
            self._stream,
            frozenset() if before is None else self.entity_triples(entity, before),
            frozenset() if operation["op"] == "delete" else self.entity_triples(entity, after),
        )

    def _read(self, entity: str, revision: int) -> frozenset[Triple]:
        path = f"/wiki/Special:EntityData/{entity}.nt?flavor=dump&revision={revision}"
        return entity_triples(self._body(self._wiki, path), entity)


class ExpectedMutation:
    """See `ExpectedOutput`. `before` and `after` are the entity's triples at the two revisions."""

    def __init__(
        self, operation: dict[str, Any], stream: str, before: frozenset[Triple], after: frozenset[Triple]
    ) -> None:
        self._operation, self._stream = operation, stream
        if operation["op"] == "reconcile":
            self._parts = dict.fromkeys(_PARTS, frozenset[Triple]()) | {"added": after}
        else:
            (added, linked), (deleted, unlinked) = _divide(after - before), _divide(before - after)
            self._parts = dict(zip(_PARTS, (added, deleted, linked, unlinked), strict=True))

    def difference(self, value: bytes, *, body_removed: bool) -> str | None:
        """The fields of each chunk, and the triples of all together."""
        try:
            chunks = [orjson.loads(line) for line in value.split(b"\n")]
            for chunk in chunks:
                if wrong := self._wrong_field(chunk):
                    return wrong
            found = {part: _triples_in(chunks, f"rdf_{part}_data") for part in _PARTS}
        except (orjson.JSONDecodeError, KeyError, TypeError, SyntaxError) as error:
            return f"not a mutation: {error!r}"
        for part, expected in self._parts.items():
            missing, additional = len(expected - found[part]), len(found[part] - expected)
            if additional or (missing and not body_removed):
                return f"{part} lacks {missing} triples and has {additional} that do not belong there"
        return None

    def _wrong_field(self, chunk: dict[str, Any]) -> str | None:
        operation = self._operation
        fields = {
            "entity_id": (chunk["entity_id"], operation["entity"]),
            "operation": (chunk["operation"], operation["op"]),
            "rev_id": (chunk["rev_id"], operation["rev"]),
            "dt": (chunk["dt"], operation["dt"]),
            "meta.request_id": (chunk["meta"]["request_id"], operation["id"]),
            "meta.stream": (chunk["meta"]["stream"], self._stream),
        }
        wrong = ((name, actual, due) for name, (actual, due) in fields.items() if actual != due)
        return next((f"{name} is {actual!r}; expected {due!r}" for name, actual, due in wrong), None)


def _divide(triples: AbstractSet[Triple]) -> tuple[frozenset[Triple], frozenset[Triple]]:
    """Own ones, and shared ones."""
    shared = frozenset(filter(is_shared, triples))
    return frozenset(triples - shared), shared


def _triples_in(chunks: list[dict[str, Any]], field: str) -> frozenset[Triple]:
    texts = [chunk[field]["data"] for chunk in chunks if field in chunk]
    quads = (quad for text in texts for quad in pyoxigraph.parse(text, pyoxigraph.RdfFormat.TURTLE))
    return frozenset(Triple(str(quad.subject), str(quad.predicate), str(quad.object)) for quad in quads)
