"""How far `apply` of a stack that `devkit up` keeps is behind its topic, by the offset in the triple store."""

import json
from contextlib import closing
from pathlib import Path

from devkit.debug.program_lag import PartitionLag
from devkit.errors import PartError
from devkit.observe.applied_offsets import OffsetInStore
from devkit.programs.places import CONFIG_FILE
from devkit.programs.standalone_apply import APPLY
from devkit.stack.parts.part import TRIPLE_STORE
from devkit.stack.parts.triple_store import TripleStore
from devkit.stack.topics import TopicEnds


def apply_config(logs: Path) -> Path | None:
    """Its configuration file; None on a stack without it."""
    file = logs / APPLY / CONFIG_FILE
    return file if file.is_file() else None


def lag_of_apply(config_file: Path, store: TripleStore, *, bootstrap: str) -> PartitionLag:
    """A look now; `committed` is the next offset in the store. Raises StackError."""
    topic = str(json.loads(config_file.read_bytes())["source"]["topic"])
    if not store.answers():
        raise PartError(f"the triple store did not answer {store.direct_query}", TRIPLE_STORE)
    place = (topic, 0)
    committed = (OffsetInStore(store, topic).look() or {}).get(place)
    with closing(TopicEnds(bootstrap)) as ends:
        end = ends.of(topic).get(place[1], 0)
    return PartitionLag(*place, committed, end, None)
