"""A slow round as a Spark job: entries in, records out to the sink, and facts back to the driver."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.config import PipelineConfig
from pipeline.deferral.entry import Entry
from pipeline.deferral.facts import Fact
from pipeline.deferral.rows import entry_rows
from pipeline.metrics.figures import Figures
from pipeline.metrics.in_worker import reporting
from pipeline.sink import write
from pipeline.task_results import accumulated_list
from pipeline.worker import RECORD_DDL, process_deferred

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator
    from pyspark.sql import SparkSession


class SparkRounds:
    """Runs rounds, also several at once."""

    def __init__(
        self, spark: "SparkSession", config: PipelineConfig, figures: "Accumulator[Figures] | None" = None
    ) -> None:
        """`figures` take what the rounds' tasks measure."""
        self._spark, self._config, self._figures = spark, config, figures
        self._lock = threading.Lock()

    def run(self, entries: Sequence[Entry], *, epoch: int, limit_bytes: int) -> list[Fact]:
        """Returns when all that came of the entries is acknowledged; raises what Spark raises when something is not.

        `limit_bytes` bounds the records of entries that are written again.
        """
        facts = self._accumulator()
        try:
            function = process_deferred(self._config, entries, facts, epoch=epoch, limit_bytes=limit_bytes)
            if self._figures is not None:
                function = reporting(function, self._figures)
            # One task: the round's own bound on requests is for all of it.
            rows = entry_rows(self._spark, entries).coalesce(1)
            write(rows.mapInArrow(function, RECORD_DDL), self._config.sink)
            return facts.value
        finally:
            self._forget(facts)

    def _accumulator(self) -> "Accumulator[list[Fact]]":
        with self._lock:
            return accumulated_list(self._spark)

    def _forget(self, facts: "Accumulator[list[Fact]]") -> None:
        # Spark keeps every accumulator for the life of the driver, and offers no way to let one go.
        from pyspark import accumulators

        accumulators._accumulatorRegistry.pop(facts.aid, None)  # noqa: SLF001
