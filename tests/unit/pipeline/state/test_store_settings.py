"""The settings of Spark's state store."""

from collections.abc import Callable

import pytest

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.state.state_mark import StateMark
from pipeline.state.store_settings import store_settings

STORE = "spark.sql.streaming.stateStore"
MARK = StateMark(operator="dedupeWithinWatermark", key="id", provider="rocksdb", partitions=3)


def test_rocksdb_is_bounded_and_writes_changes_alone(make_config: Callable[..., PipelineConfig]) -> None:
    config = make_config(state={"partitions": 9, "max_bytes": "48MiB"})
    settings = store_settings(config, MARK)
    assert settings.pop(f"{STORE}.providerClass").endswith(".RocksDBStateStoreProvider")
    assert settings == {
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        f"{STORE}.rocksdb.changelogCheckpointing.enabled": "true",
        f"{STORE}.rocksdb.boundedMemoryUsage": "true",
        f"{STORE}.rocksdb.maxMemoryUsageMB": "48",
    }


def test_a_map_in_the_heap_has_no_settings_of_its_own(make_config: Callable[..., PipelineConfig]) -> None:
    settings = store_settings(make_config(), MARK.model_copy(update={"provider": "heap"}))
    assert settings.pop(f"{STORE}.providerClass").endswith(".HDFSBackedStateStoreProvider")
    assert settings == {
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    }


@pytest.mark.parametrize("job", ["edit-counts", "rdf-decide"])
def test_what_waits_may_leave_in_a_batch_without_events(make_config: Callable[..., PipelineConfig], job: str) -> None:
    settings = store_settings(make_config(job=job), MARK)
    assert settings["spark.sql.streaming.noDataMicroBatches.enabled"] == "true"
