"""The metrics of `python -m pipeline apply`: what its loop records, and what is looked up when they are asked for."""

from collections.abc import Callable, Iterator

from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from pipeline.config.metrics_section import Metrics
from pipeline.kafka.cluster import BrokersAt
from pipeline.metrics import apply_catalogue as catalogue
from pipeline.metrics.catalogue import LAG_EVENTS, LAG_SECONDS, LAG_SEEN
from pipeline.metrics.clocks import Clocks
from pipeline.metrics.endpoint import Endpoint, serve
from pipeline.metrics.exposition import families
from pipeline.metrics.lag_watch import KafkaSource, LagWatch
from pipeline.metrics.measurements import Recorder
from pipeline.metrics.registry import names_of
from pipeline.records.record import SourcePartition


class ApplyMetrics(Collector):
    """`next_offset` and `is_store_down` are asked from other threads, `next_offset` is None until it is known."""

    def __init__(
        self,
        settings: Metrics,
        brokers: BrokersAt,
        partition: SourcePartition,
        *,
        next_offset: Callable[[], int | None],
        is_store_down: Callable[[], bool],
        clocks: Clocks | None = None,
    ) -> None:
        """Raises RefusedError for a name used twice."""
        self._settings, self._next_offset, self._is_store_down = settings, next_offset, is_store_down
        self._clocks = clocks or Clocks()
        self._named = names_of(settings, catalogue.APPLY_METRICS)
        self.recorder = Recorder()
        self._started = self._clocks.note()
        self._endpoint: Endpoint | None = None

        def committed() -> dict[SourcePartition, int] | None:
            offset = next_offset()
            return None if offset is None else {partition: offset}

        self._lag = LagWatch(
            lambda: KafkaSource(brokers, (partition.topic,)),
            committed,
            interval_s=settings.lag_interval.total_seconds(),
            clocks=self._clocks,
        )

    def start(self) -> str:
        """Serve, and watch the lag; returns the address. Raises RefusedError."""
        self._endpoint = serve(self, host=self._settings.host, port=self._settings.port or 0)
        self._lag.start()
        return self._endpoint.url

    def close(self) -> None:
        """Frees the port, and ends the looks at the lag; safe where no port was served."""
        self._lag.stop()
        if self._endpoint is not None:
            self._endpoint.close()

    def describe(self) -> Iterator[Family]:
        """Nothing: what is reported depends on when it is asked, and names were checked at the start."""
        return iter(())

    def collect(self) -> Iterator[Family]:
        """What a scraper gets."""
        levels = self.recorder
        levels.set(catalogue.STARTED, self._clocks.timestamp(self._started))
        levels.set(catalogue.STORE_DOWN, float(self._is_store_down()))
        next_offset = self._next_offset()
        if next_offset is not None:
            levels.set(catalogue.NEXT_OFFSET, next_offset)
        if self._lag.lag is not None:
            noted, lag = self._lag.lag
            for partition, events in lag.events.items():
                labels = partition.topic, str(partition.partition)
                levels.set(LAG_EVENTS, events, *labels)
                levels.set(LAG_SECONDS, lag.seconds[partition], *labels)
            levels.set(LAG_SEEN, self._clocks.timestamp(noted))
        return families(self._named, self.recorder.measurements(), {})
