"""Spark's own settings for the state store, as the configuration and the checkpoint have them."""

from pipeline.config.pipeline_config import MIB, PipelineConfig
from pipeline.state.state_mark import StateMark, leaves_later

_STORE = "spark.sql.streaming.stateStore"
_ROCKSDB = f"{_STORE}.rocksdb"
_PROVIDERS = {
    "rocksdb": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "heap": "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
}


def store_settings(config: PipelineConfig, mark: StateMark) -> dict[str, str]:
    """To be set in the session before the query starts."""
    settings = {
        # Of the operator alone: every other shuffle of a job names its own number.
        "spark.sql.shuffle.partitions": str(mark.partitions),
        f"{_STORE}.providerClass": _PROVIDERS[mark.provider],
        # A batch without events, after each that moves the watermark: windows leave in it, and timers fire. What
        # removes repeats would only forget sooner.
        "spark.sql.streaming.noDataMicroBatches.enabled": str(leaves_later(config)).lower(),
    }
    if mark.provider == "rocksdb":
        settings |= {
            # Else each batch writes whole files of RocksDB's.
            f"{_ROCKSDB}.changelogCheckpointing.enabled": "true",
            # One cache and one bound for all stores of a JVM; by default each store has its own, without one.
            f"{_ROCKSDB}.boundedMemoryUsage": "true",
            f"{_ROCKSDB}.maxMemoryUsageMB": str(max(1, config.state.max_bytes // MIB)),
        }
    return settings
