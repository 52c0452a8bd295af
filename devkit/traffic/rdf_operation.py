"""An operation on an entity, as `rdf-resolve` reads it: see `pipeline/schemas/rdf_operation.json`."""

import uuid
from datetime import datetime

from devkit.traffic.moments import to_milliseconds

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:enrichment:rdf-operation")


def rdf_operation(
    entity: str, op: str, rev: int, *, from_rev: int | None, when: datetime, seq: int, source: tuple[str, int, int]
) -> dict[str, object]:
    """Its fields. `from_rev` is there for a `diff` alone; `source` is topic, partition and offset of the event that it
    was made from. The id is a function of entity, revision, op and `seq`.
    """
    operation: dict[str, object] = {"entity": entity, "op": op, "rev": rev}
    if op == "diff":
        operation["from_rev"] = from_rev
    operation_id = str(uuid.uuid5(_NAMESPACE, f"{entity} {rev} {op} {seq}"))
    return {**operation, "dt": to_milliseconds(when), "seq": seq, "id": operation_id, "sources": [list(source)]}
