"""Which hosts may use what they keep of pages: those that have read all events of theirs since it was kept.

local     the driver's host reads all: its file says up to where, and is cleared at a start from another position
cluster   the driver knows which host's file has read each partition last, and a task on another one clears its own
"""

import json
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.driver.spark_slots import is_local
from pipeline.fetch.kept_revisions import keeping_nothing, kept_revisions
from pipeline.records.record import SourcePartition
from pipeline.worker.arrow import ArrowFunction
from pipeline.worker.one_host import files_after, on_one_host
from pipeline.worker.task_results import accumulated_list

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class KeptHosts:
    """`start` once, then `function` and `written` around each batch, and `committed`."""

    def __init__(self, spark: "SparkSession", config: PipelineConfig) -> None:
        self._config = config
        keeps = config.kept_bytes > 0
        is_one_host = keeps and is_local(spark.sparkContext.master or "")
        self._kept = kept_revisions(config) if is_one_host else None
        self._read = accumulated_list(spark) if keeps and not is_one_host else None
        self._files: dict[SourcePartition, str] = {}

    def start(self, committed: Callable[[], Mapping[SourcePartition, int] | None]) -> None:
        """`committed` tells the positions by the checkpoint, None where the job is new."""
        if self._kept is not None:
            positions = committed()
            self._kept.continue_from(uuid.uuid4().hex if positions is None else _text(positions))

    def slow_lane(self) -> PipelineConfig:
        """The configuration of slow rounds: on a cluster they may be on any host."""
        return self._config if self._read is None else keeping_nothing(self._config)

    def function(self, function: ArrowFunction) -> ArrowFunction:
        """What a batch's tasks do."""
        if self._read is None:
            return function
        self._read.value = []
        return on_one_host(function, self._config, self._files, self._read)

    def written(self) -> None:
        """All tasks of a batch have ended."""
        if self._read is not None:
            self._files = files_after(self._files, self._read.value)

    def committed(self, positions: Mapping[SourcePartition, int]) -> None:
        """Spark has committed a batch up to there, the last or one before it."""
        if self._kept is not None:
            self._kept.read_to(_text(positions))


def _text(positions: Mapping[SourcePartition, int]) -> str:
    return json.dumps(sorted((*partition, offset) for partition, offset in positions.items()))
