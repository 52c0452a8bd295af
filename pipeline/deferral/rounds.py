"""A slow round as a Spark job: entries in, facts back to the driver. What it emits its task writes by itself."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pipeline import log
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.entry import Entry
from pipeline.deferral.facts import Fact
from pipeline.deferral.rows import entry_rows
from pipeline.kafka.sink import discard
from pipeline.metrics.figures import Figures
from pipeline.metrics.in_worker import reporting
from pipeline.worker.spark_task import RECORD_DDL, process_deferred
from pipeline.worker.task_attempt import EndedTask, reporting_attempts, retried
from pipeline.worker.task_results import accumulated_list

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

    def run(self, entries: Sequence[Entry], *, epoch: int) -> list[Fact]:
        """Returns when all that came of the entries is acknowledged, and resolved under `epoch` in the ledger's topic;
        raises what Spark raises when something is not.
        """
        facts, ended = self._accumulators()
        try:
            function = reporting_attempts(process_deferred(self._config, entries, facts, epoch=epoch), ended)
            if self._figures is not None:
                function = reporting(function, self._figures)
            # One task: the round's own bound on requests is for all of it.
            rows = entry_rows(self._spark, entries).coalesce(1)
            discard(rows.mapInArrow(function, RECORD_DDL))
            return facts.value
        finally:
            for one in retried(ended.value, batch=None):
                log.say(one)
            self._forget(facts, ended)

    def _accumulators(self) -> "tuple[Accumulator[list[Fact]], Accumulator[list[EndedTask]]]":
        with self._lock:
            return accumulated_list(self._spark), accumulated_list(self._spark)

    def _forget(self, *several: "Accumulator[list[Any]]") -> None:
        # Spark keeps every accumulator for the life of the driver, and offers no way to let one go.
        from pyspark import accumulators

        for one in several:
            accumulators._accumulatorRegistry.pop(one.aid, None)  # noqa: SLF001
