"""The operations that changes of entities are: what `rdf-resolve` reads, see `pipeline/schemas/rdf_operation.json`.

    create, edit, undelete   import where the entity is not in the store, else diff from the revision that is
    delete                   delete
    move, visibility         none: entities cannot be moved, and no triple depends on who may see what

An entity is in the store if its last operation in the topic says so: a store that begins empty has it from its first
operation on. That operation also says its `seq`.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from typing import Final

from devkit.event_bus.mock_feed import PATH, FeedEntry
from devkit.traffic.entity_life import CONTENT_MODELS, entity_id
from devkit.traffic.json_bytes import json_bytes
from devkit.traffic.rdf_operation import rdf_operation

_FEED_PARTITION: Final = 0


@dataclass(frozen=True, slots=True)
class _LastOperation:
    """`in_store` is the revision that the store has after it, None for none."""

    seq: int
    in_store: int | None


_NONE: Final = _LastOperation(0, None)


class EntityOperations:
    """Makes the operations of one topic; `resume` comes first, and again after each error."""

    def __init__(self) -> None:
        self._last: dict[str, _LastOperation] = {}

    def resume(self, values: Iterable[bytes]) -> None:
        """Continue behind the operations that the topic has, in their order. Other records do not count."""
        self._last = {}
        for value in values:
            try:
                operation = json.loads(value)
                in_store = None if operation["op"] == "delete" else int(operation["rev"])
                self._last[str(operation["entity"])] = _LastOperation(int(operation["seq"]), in_store)
            except (ValueError, TypeError, KeyError):
                continue

    def record_of(self, feed: str, entry: FeedEntry) -> tuple[bytes, bytes] | None:  # noqa: ARG002 - as all streams
        """Key and value of the record for a change; None for one that is no operation."""
        change = entry.change
        if change.page.content_model not in CONTENT_MODELS or change.kind in ("move", "visibility"):
            return None
        entity, rev = entity_id(change.page.title), change.revision.rev_id
        last = self._last.get(entity, _NONE)
        if change.kind == "delete":
            op, moment, in_store = "delete", change.at, None
        elif last.in_store == rev:
            return None
        else:
            op, in_store = "import" if last.in_store is None else "diff", rev
            moment = change.at if change.kind == "undelete" else change.revision.timestamp
        seq = last.seq + 1
        source, when = (PATH, _FEED_PARTITION, entry.n), moment.astimezone(UTC)
        operation = rdf_operation(entity, op, rev, from_rev=last.in_store, when=when, seq=seq, source=source)
        self._last[entity] = _LastOperation(seq, in_store)
        return entity.encode(), json_bytes(operation)
