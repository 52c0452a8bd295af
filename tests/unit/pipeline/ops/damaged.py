"""Damages to the recorded checkpoint, whose job is of the topic TOPIC and stopped after batch 2."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import orjson

from pipeline.ops.checkpoint_write import set_in_place
from tests.unit.pipeline.ops.places import TOPIC, checkpoint_at, files_at

Damage = Callable[[Path], None]


def _without(*names: str) -> Damage:
    def remove(place: Path) -> None:
        for name in names:
            (place / name).unlink()

    return remove


def _holds(name: str, text: str) -> Damage:
    return lambda place: (place / name).write_text(text) and None


def _set_and_not_committed(place: Path) -> None:
    set_in_place(files_at(place), checkpoint_at(place), {TOPIC: {0: 5}})
    (place / "commits" / "3").unlink()


def _state_lost(place: Path) -> None:
    state = {"operator": "dedupeWithinWatermark", "key": "id", "provider": "rocksdb", "partitions": 3}
    mark = {"job": "html-enrichment", "source": TOPIC, "sink": "mediawiki.page_html_content_change.v1", "state": state}
    (place / "job.json").write_bytes(orjson.dumps(mark))


_FACTS = '{"batchWatermarkMs":0,"batchTimestampMs":1774000000000,"conf":{}}'

DAMAGES: Mapping[str, tuple[Damage, str]] = MappingProxyType(
    {
        "no metadata": (_without("metadata"), "the file metadata is missing"),
        "empty metadata": (_holds("metadata", ""), "metadata is not in the form"),
        "metadata of something else": (_holds("metadata", '{"other":1}'), "metadata is not in the form"),
        "no last plan": (_without("offsets/2"), "batch 2 is committed and not planned"),
        "no plan before it": (_without("offsets/1"), "offsets/1 is missing"),
        "no plan at all": (_without("offsets/0", "offsets/1", "offsets/2"), "batch 2 is committed and none is planned"),
        "neither plan nor beginning": (
            _without("offsets/0", "offsets/1", "offsets/2", "sources/0/0"),
            "batch 2 is committed and none is planned",
        ),
        "empty last plan": (_holds("offsets/2", ""), "offsets/2 is not in the form"),
        "cut off last plan": (_holds("offsets/2", f"v1\n{_FACTS}"), "offsets/2 is not in the form"),
        "empty plan before it": (_holds("offsets/1", ""), "offsets/1 is not in the form"),
        "plan of another program": (_holds("offsets/2", f'v1\n{_FACTS}\n{{"logOffset":7}}'), "offsets/2 is not"),
        "plan of another version": (_holds("offsets/2", "v9\n{}\n{}"), "offsets/2 is not in the form"),
        "two commits missing": (_without("commits/1", "commits/2"), "batch 2 is planned and the last commit is of 0"),
        "no commit at all": (
            _without("commits/0", "commits/1", "commits/2"),
            "batch 2 is planned and the last commit is of -1",
        ),
        "empty last commit": (_holds("commits/2", ""), "commits/2 is not in the form"),
        "last commit of another version": (_holds("commits/2", "v3\n{}"), "it begins with 'v3', not with v1"),
        "cut off last commit": (_holds("commits/2", 'v1\n{"nextBat'), "invalid JSON: EOF while parsing"),
        "empty beginning": (_holds("sources/0/0", ""), "sources/0/0 is not in the form"),
        "cut off beginning": (_holds("sources/0/0", "\0v1"), "sources/0/0 is not in the form"),
        "a plan that goes back": (_set_and_not_committed, f"batch 3 ends at {TOPIC}/0/5, below its begin at 20"),
        "no state": (_state_lost, "state/ is missing, which batch 2 has written"),
    }
)

WHOLE: Mapping[str, Damage] = MappingProxyType(
    {
        "stopped after its commit": _without(),
        "stopped in a batch": _without("commits/2"),
        "old batches forgotten": _without("offsets/0", "commits/0"),
        "its beginning forgotten": _without("sources/0/0"),
        "an old commit empty": _holds("commits/1", ""),
        "before its first batch, where Spark writes metadata later": _without(
            "metadata", *(f"{log}/{number}" for log in ("offsets", "commits") for number in range(3))
        ),
    }
)
"""Where the job goes on."""
