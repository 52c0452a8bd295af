"""What earlier versions have left, which this one has to go on from.

`earlier/NAME` holds what a job of one wrote to its checkpoint and its ledger until it was stopped, as it was read from
the object store and from Kafka. Names are changed, events are shortened, and Spark's settings are left out.

    repeats    html-enrichment with source.deduplicate, before job.json said for how long repeats were looked for
    counts     edit-counts, before an entry of several events was of a kind of its own
"""

import json
from pathlib import Path
from typing import Any

from pipeline.deferral.entry import Entry
from pipeline.deferral.fold import fold
from pipeline.deferral.wire import parse
from pipeline.driver.identity import Identity, require_checkpoint, require_own
from pipeline.driver.job_checkpoint import committed_offsets, read_content, watermark_ms
from pipeline.state.state_mark import pinned
from tests.unit.pipeline.conftest import MakeConfig
from tests.unit.pipeline.driver.hadoop_files import Files, spark

EARLIER = Path(__file__).with_name("earlier")


def deferred(name: str) -> dict[int, Entry]:
    """By offset in the one partition of the source: what the ledger holds, by all of its records."""
    lines = (EARLIER / name / "ledger.jsonl").read_text().splitlines()
    items = []
    for offset, line in enumerate(lines):
        record: dict[str, Any] = json.loads(line)
        value = None if record["value"] is None else record["value"].encode()
        headers = [(header, content.encode()) for header, content in record["headers"]]
        items.append(parse(record["key"].encode(), value, headers, partition=record["partition"], offset=offset))
    found = fold(items).deferred
    assert {(one.topic, one.partition) for one in found} == {("page_change", 0)}
    return {one.offset: entry for one, entry in found.items()}


def identity(name: str) -> Identity:
    found = read_content(spark(Files()), str(EARLIER / name))
    require_checkpoint(found.spark.entries - {"ledger.jsonl"}, name)
    assert found.spark.has_position
    assert found.spark.topics == ["page_change"]
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
    held = {offset: (one.kind, one.attempt, one.key) for offset, one in deferred("repeats").items()}
    page = b'{"wiki_id":"enwiki","page_id":%d}'
    waiting = dict.fromkeys((56, 79, 101), ("waiting", 0, page % 1))
    assert held == {**waiting, 108: ("waiting", 0, page % 15)}


def test_a_job_that_counts(make_config: MakeConfig) -> None:
    place, found = str(EARLIER / "counts"), identity("counts")
    source = {"topic": "page_change", "read": "aligned", "late": "lapse", "lateness": "5s"}
    config = make_config(
        job="edit-counts",
        source=source,
        count={"window": "10s", "delay": "5s"},
        sink={"topic": "counts"},
        checkpoint="counts",
    )
    require_own(found, Identity.of(config, found.cluster, found.source_ids), checkpoint="counts")
    assert pinned(found.state, config, checkpoint="counts", slots=8, exists=True) == found.state
    assert committed_offsets(spark(Files()), place) == {("page_change", 0): 102}
    assert watermark_ms(spark(Files()), place) == 1772442028816, "that of the batch which is planned"
    counted = {offset: [at.offset for at in one.counted or ()] for offset, one in deferred("counts").items()}
    assert counted == {13: [13], 14: [14], 19: [19], 20: [20], 24: [4, 24], 25: [7, 8, 25], 28: [10, 26, 28]}
