"""A job that is started again with a longer `within` drops nothing that is late for the shorter one.

Set-up: a directory of rows as the aligned source gives them, read by a query that drops repeats within five seconds,
and then by one with the same checkpoint that does within an hour. Checked: an event that comes a minute late after that
is kept, as the shortest delay is known; and that without knowing it Spark drops the event, for its watermark stays.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.state.deduplicate import without_repeats
from pipeline.state.state_mark import StateMark
from pipeline.state.store_settings import store_settings
from tests.integration.local_spark import local_spark

ROOMS = ("pipeline/state",)
SCHEMA = "key binary, value binary, topic string, partition int, offset long, timestamp timestamp, horizon timestamp"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def config_of(within: str) -> PipelineConfig:
    nowhere = "127.0.0.1:1"
    return PipelineConfig.model_validate(
        {
            "source": {"bootstrap_servers": nowhere, "read": "aligned", "deduplicate": {"within": within}},
            "sink": {"bootstrap_servers": nowhere},
            "mediawiki": {"endpoint": f"http://{nowhere}"},
            "checkpoint": "unused",
        }
    )


def kept(
    spark: SparkSession, place: Path, within: str, row: dict[str, Any], shortest_ms: int | None = None
) -> list[int]:
    """The offsets that pass when this row is there too."""
    source = place / "source"
    source.mkdir(exist_ok=True)
    (source / f"{row['offset']}.json").write_text(json.dumps(row))
    config = config_of(within)
    mark = StateMark.of(config, slots=1)
    assert mark is not None
    for name, value in store_settings(config, mark).items():
        spark.conf.set(name, value)
    found: list[int] = []

    def keep(batch: DataFrame, _number: int) -> None:
        found.extend(row.offset for row in batch.collect())

    stream = spark.readStream.schema(SCHEMA).json(str(source))
    once = without_repeats(stream, config, tasks=1, shortest_ms=shortest_ms)
    query = once.writeStream.foreachBatch(keep).option("checkpointLocation", str(place / "checkpoint")).start()
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    return found


def row(offset: int, *, at: datetime, horizon: datetime | None) -> dict[str, Any]:
    return {
        "topic": "t",
        "partition": 0,
        "offset": offset,
        "timestamp": at.isoformat(),
        "horizon": horizon and horizon.isoformat(),
    }


@pytest.mark.slow
@pytest.mark.parametrize(("shortest_ms", "passes"), [(5_000, [2]), (None, [])], ids=["known", "not known"])
def test_a_longer_time_drops_nothing_that_is_late_for_the_shorter(
    tmp_path: Path, shortest_ms: int | None, passes: list[int]
) -> None:
    with local_spark(1, sql__session__timeZone="UTC") as spark:
        # A batch drops what is behind the watermark that the batch before it had.
        for offset in range(2):
            assert kept(spark, tmp_path, "5s", row(offset, at=NOON, horizon=NOON if offset else None)) == [offset]
        late = row(2, at=NOON - timedelta(minutes=1), horizon=NOON)
        assert kept(spark, tmp_path, "1h", late, shortest_ms) == passes
