"""How far the `apply` of a running stack is behind its topic, by the offset that it keeps.

devkit up              <run>/apply/pipeline.yaml beside the logs
devkit scenario run    <run>/ARM/PROGRAM/pipeline.yaml beside <run>/stack, the newest one
"""

import json
from contextlib import closing
from pathlib import Path

from devkit.debug.program_lag import PartitionLag
from devkit.errors import PartError
from devkit.observe.applied_offsets import FollowerOffsets, OffsetInStore, OffsetOfGroup
from devkit.observe.kafka.group_offsets import GroupOffsets
from devkit.programs.places import CONFIG_FILE
from devkit.programs.standalone_apply import APPLY
from devkit.report.run_record import TIMELINE
from devkit.stack.parts.part import TRIPLE_STORE
from devkit.stack.parts.triple_store import TripleStore
from devkit.stack.topics import TopicEnds

_SECTION = "apply"
"""The section that the configuration of no other program has."""


def apply_config(logs: Path) -> Path | None:
    """Its configuration file; None on a stack without it."""
    files = [logs / APPLY / CONFIG_FILE]
    if (logs.parent / TIMELINE).exists():
        files += logs.parent.glob(f"*/*/{CONFIG_FILE}")
    existing = [file for file in files if file.is_file() and _SECTION in json.loads(file.read_bytes())]
    return max(existing, key=lambda file: file.stat().st_mtime_ns, default=None)


def lag_of_apply(config_file: Path, store: TripleStore, *, bootstrap: str) -> PartitionLag:
    """A look now; `committed` is the next offset to be applied. Raises StackError."""
    config = json.loads(config_file.read_bytes())
    topic, group, settings = str(config["source"]["topic"]), str(config["source"]["group"]), config[_SECTION]
    if not store.answers():
        raise PartError(f"the triple store did not answer {store.direct_query}", TRIPLE_STORE)
    place = (topic, 0)
    offsets: FollowerOffsets = OffsetInStore(store, topic, settings["graph"])
    if settings["offset"] == "kafka":
        offsets = OffsetOfGroup(GroupOffsets(bootstrap, group), topic)
    with closing(offsets):
        committed = (offsets.look() or {}).get(place)
    with closing(TopicEnds(bootstrap)) as ends:
        end = ends.of(topic).get(place[1], 0)
    return PartitionLag(*place, committed, end, None)
