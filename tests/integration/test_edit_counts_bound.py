"""An edit that is exactly as late as it may be counts in its own window, and nothing at that bound is dropped.

Set-up: a stream of Spark's over files, one a batch, with the rows of the aligned source. The latest time read lies so
that `lateness`, which is `count.delay`, reaches back to the last millisecond of a window. Checked: each edit is in the
window of its own time, in one output of that window, or lapses; and Spark has dropped none.
"""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.rounds import entry_table
from pipeline.jobs.edit_counts import window_start
from pipeline.records.lapsed_action import is_late
from pipeline.state.counted_by_window import counted_by_window
from pipeline.worker.spark_task import messages_of
from tests.integration.local_spark import local_spark
from tests.unit.pipeline.deferral.making import entry
from tests.unit.pipeline.making import make_event

ROOMS = ("pipeline/jobs", "pipeline/state")
BEGIN = datetime(2026, 3, 2, 10, tzinfo=UTC)
COLUMNS = "topic string, partition int, offset long, key binary, value binary, timestamp timestamp, horizon timestamp"
SECONDS = ([10.0, 89.999], [59.998, 59.999, 60.0], [400.0], [401.0])
"""Of the edits of each batch, since `BEGIN`."""
SETTINGS = {
    "job": "edit-counts",
    "source": {"bootstrap_servers": "k:9092", "read": "aligned", "late": "lapse", "lateness": "30s"},
    "sink": {"bootstrap_servers": "k:9092"},
    "mediawiki": {"endpoint": "http://wiki"},
    "checkpoint": "/nowhere",
    "count": {"window": "60s", "delay": "30s"},
}


def moment(seconds: float) -> datetime:
    return BEGIN + timedelta(milliseconds=round(seconds * 1000))


def rows_of(first: int, seconds: list[float], horizon: datetime | None) -> pa.Table:
    times = [int(moment(one).timestamp() * 1000) * 1000 for one in seconds]
    value = orjson.dumps(make_event())
    table = entry_table([entry(first + number, value=value, appended_us=at) for number, at in enumerate(times)])
    return table.append_column("horizon", pa.array([horizon] * len(seconds), pa.timestamp("us", tz="UTC")))


def write_batches(place: Path) -> None:
    first, horizon = 0, None
    read: list[float] = []
    for number, seconds in enumerate(SECONDS):
        file = place / f"{number}.parquet"
        pq.write_table(rows_of(first, seconds, horizon), file)
        os.utime(file, (number, number))  # by which Spark orders them
        first += len(seconds)
        horizon = max(moment(one) for one in [*seconds, *read])
        read += seconds


@pytest.mark.slow
def test_an_edit_at_the_bound_counts_in_its_own_window(tmp_path: Path) -> None:
    config = PipelineConfig.model_validate(SETTINGS)
    source = tmp_path / "source"
    source.mkdir()
    write_batches(source)
    counted: dict[datetime, list[list[int]]] = {}
    lapsed: list[int] = []

    def note(rows: DataFrame, _batch: int) -> None:
        for message in messages_of(iter(rows.toArrow().to_batches())):
            offsets = [one.offset for one in message.counted or ()]
            if is_late(message, config.source.lateness):
                lapsed.extend(offsets)
            else:
                counted.setdefault(window_start(message.appended, config.count.window), []).append(offsets)

    with local_spark(1, sql__shuffle__partitions="1", sql__session__timeZone="UTC") as spark:
        stream = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1).parquet(str(source))
        rows = counted_by_window([stream], config, tasks=1)
        query = rows.writeStream.foreachBatch(note).option("checkpointLocation", str(tmp_path / "state")).start()
        query.processAllAvailable()
        operators: list[Any] = [one for said in query.recentProgress for one in said["stateOperators"]]
        query.stop()
    assert counted == {moment(0): [[0, 3]], moment(60): [[1, 4]]}
    assert lapsed == [2]
    assert sum(one["numRowsDroppedByWatermark"] for one in operators) == 0
