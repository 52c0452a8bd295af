"""What earlier versions have left, which this one has to go on from.

`earlier/NAME` holds what a job of one wrote to its checkpoint and its ledger until it was stopped, as it was read from
the object store and from Kafka. Names are changed, events are shortened, and Spark's settings are left out.

    repeats    html-enrichment with source.deduplicate, before job.json said for how long repeats were looked for
"""

import json
from pathlib import Path
from typing import Any

from pipeline.deferral.fold import fold
from pipeline.deferral.wire import parse
from pipeline.driver.identity import Identity, require_checkpoint, require_own
from pipeline.driver.job_checkpoint import committed_offsets, look, watermark_ms
from pipeline.state.pinned import pinned
from tests.unit.pipeline.conftest import MakeConfig
from tests.unit.pipeline.driver.hadoop_files import Files, spark

EARLIER = Path(__file__).with_name("earlier")


def deferred(name: str) -> dict[str, tuple[str, int, bytes | None]]:
    """By position: kind, tries and key of what the ledger holds, by all of its records."""
    lines = (EARLIER / name / "ledger.jsonl").read_text().splitlines()
    items = []
    for offset, line in enumerate(lines):
        record: dict[str, Any] = json.loads(line)
        value = None if record["value"] is None else record["value"].encode()
        headers = [(header, content.encode()) for header, content in record["headers"]]
        items.append(parse(record["key"].encode(), value, headers, partition=record["partition"], offset=offset))
    folded = fold(items)
    return {str(position): (one.kind, one.attempt, one.key) for position, one in folded.deferred.items()}


def identity(name: str) -> Identity:
    found = look(spark(Files()), str(EARLIER / name))
    require_checkpoint(set(found.names) - {"ledger.jsonl"}, name)
    assert found.has_position
    assert found.topics() == ["page_change"]
    assert found.identity is not None
    return Identity.read(found.identity, name)


def test_a_job_that_drops_repeats(make_config: MakeConfig) -> None:
    place, found = str(EARLIER / "repeats"), identity("repeats")
    source = {"topic": "page_change", "read": "aligned", "deduplicate": {"within": "1h"}}
    config = make_config(source=source, sink={"topic": "html"}, checkpoint="repeats")
    own = Identity.of(config, found.cluster, found.source_ids)
    require_own(found, own, checkpoint="repeats", topics=["page_change"])
    state = pinned(found.state, config, checkpoint="repeats", slots=8, exists=True)
    assert state is not None
    assert (state.partitions, state.delay_ms) == (2, 1), "the shortest, as that of the checkpoint is not known"
    assert found.ledger is not None
    assert (found.ledger.topic, found.ledger.epoch) == ("deferred", 1)
    assert set(committed_offsets(spark(Files()), place)) == {("page_change", 0)}
    assert watermark_ms(spark(Files()), place)
    page = b'{"wiki_id":"enwiki","page_id":%d}'
    assert deferred("repeats") == {
        **{f"page_change/0/{offset}": ("waiting", 0, page % 1) for offset in (56, 79, 101)},
        "page_change/0/108": ("waiting", 0, page % 15),
    }
