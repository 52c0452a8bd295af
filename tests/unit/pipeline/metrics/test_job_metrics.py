"""What a scraper gets from the driver."""

import socket
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pipeline.aligned.plan_status import PartitionStatus, PlanStatus
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import RefusedError
from pipeline.events import Grain, StateCommitted
from pipeline.metrics import catalogue
from pipeline.metrics.catalogue import EVENTS, FETCH_SECONDS, METRICS, WORKER_MEMORY
from pipeline.metrics.clocks import Clocks, Noted
from pipeline.metrics.job_metrics import JobMetrics, record_event_times
from pipeline.metrics.lag_watch import SourceLag
from pipeline.metrics.measurements import Measurements, Origin, Recorder
from pipeline.metrics.progress import Progress
from pipeline.records.record import SourcePartition
from tests.unit.pipeline.making import make_config

NOW_S = 1_000.0
STOPPED = Clocks(now=lambda: NOW_S, monotonic=lambda: 5.0)
PROGRESS = Progress(4, 70, {"addBatch": 9, "walCommit": 60, "commitOffsets": 40}, {SourcePartition("source", 0): 12})


def measurements(*outcomes: str) -> Any:
    recorder = Recorder()
    for outcome in outcomes:
        recorder.count(EVENTS, outcome)
        recorder.observe(FETCH_SECONDS, 0.04)
    return SimpleNamespace(value=recorder.drain())


class SilentJvm:
    """Asked only by the thread of a job that is served."""

    def look(self) -> Any:
        raise OSError("has ended")


def metrics_of(
    config: PipelineConfig,
    initial: Callable[[], Mapping[int, int] | None] = lambda: None,
    clocks: Clocks = STOPPED,
    **lanes: Any,
) -> JobMetrics:
    filled = {"main": measurements(), "slow": measurements()} | lanes
    return JobMetrics(config, filled, jvm_pid=None, jvm=SilentJvm(), initial=initial, clocks=clocks)


def samples(metrics: JobMetrics) -> dict[str, float]:
    """As `name{label="value"}`."""
    found = {}
    for family in metrics.collect():
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sample.labels.items())
            found[sample.name + (f"{{{labels}}}" if labels else "")] = sample.value
    return found


def test_workers_figures_have_their_lane() -> None:
    metrics = metrics_of(make_config(), main=measurements("output", "output"), slow=measurements("error"))
    found = samples(metrics)
    assert found['enrichment_events_total{lane="main",outcome="output"}'] == 2
    assert found['enrichment_events_total{lane="slow",outcome="error"}'] == 1
    assert found['enrichment_fetch_seconds_bucket{lane="main",le="0.025"}'] == 0
    assert found['enrichment_fetch_seconds_bucket{lane="main",le="0.05"}'] == 2
    assert found['enrichment_fetch_seconds_bucket{lane="main",le="+Inf"}'] == 2
    assert found['enrichment_fetch_seconds_count{lane="main"}'] == 2
    assert found['enrichment_fetch_seconds_sum{lane="slow"}'] == 0.04


def test_what_has_not_occurred_is_0_where_it_can_be_said() -> None:
    found = samples(metrics_of(make_config()))
    assert found['enrichment_fetch_retries_total{lane="main"}'] == 0
    assert found['enrichment_record_seconds_count{lane="slow"}'] == 0
    assert found["enrichment_batch_seconds_count"] == 0
    assert found["enrichment_last_commit_timestamp_seconds"] == NOW_S


def test_batches_are_timed_and_their_commits() -> None:
    metrics = metrics_of(make_config())
    metrics.batch_written(0.3)
    metrics.batch_committed(PROGRESS)
    found = samples(metrics)
    assert found["enrichment_batch_seconds_sum"] == 0.3
    assert found["enrichment_commit_seconds_sum"] == 0.1
    assert found["enrichment_batch_rows_total"] == 70


def test_no_worker_stands_for_the_others() -> None:
    total = Measurements()
    for stage, worker, held in ((6, "c", 500), (7, "a", 30), (7, "b", 12)):
        recorder = Recorder()
        recorder.set(WORKER_MEMORY, held)
        total = total.plus(recorder.drain().measured_in(Origin(stage, worker)))
    found = samples(metrics_of(make_config(), main=SimpleNamespace(value=total)))
    assert found['enrichment_worker_resident_bytes{lane="main"}'] == 42
    assert 'enrichment_worker_resident_bytes{lane="slow"}' not in found


LAST_COMMIT = "enrichment_last_commit_timestamp_seconds"
STARTED = "enrichment_started_timestamp_seconds"


@dataclass
class Time:
    """The time of day, which may be set, and the other clock, which may not."""

    now: float = NOW_S
    monotonic: float = 5.0

    def pass_(self, seconds: float) -> None:
        self.now += seconds
        self.monotonic += seconds

    def clocks(self) -> Clocks:
        return Clocks(now=lambda: self.now, monotonic=lambda: self.monotonic)


def test_a_batch_is_committed_when_spark_says_so_and_not_when_it_is_written() -> None:
    time = Time()
    metrics = metrics_of(make_config(), clocks=time.clocks())
    time.pass_(5)
    metrics.batch_written(0.3)
    assert samples(metrics)[LAST_COMMIT] == NOW_S
    metrics.batch_committed(PROGRESS)
    found = samples(metrics)
    assert (found[LAST_COMMIT], found[STARTED]) == (NOW_S + 5, NOW_S)


@pytest.mark.parametrize("step", [-3600.0, 3600.0])
def test_a_clock_that_is_set_neither_hides_nor_feigns_a_job_that_hangs(step: float) -> None:
    """Prometheus asks for `time() - …`, by a clock that has always been right."""
    time = Time(now=NOW_S - step)
    metrics = metrics_of(make_config(), clocks=time.clocks())
    metrics.batch_committed(PROGRESS)
    metrics._lag.lag = time.clocks().note(), SourceLag({}, {})
    time.pass_(60)
    time.now += step
    found = samples(metrics)
    assert NOW_S + 60 - found[LAST_COMMIT] == 60
    assert NOW_S + 60 - found["enrichment_lag_timestamp_seconds"] == 60


def test_the_state_has_its_figures() -> None:
    state = StateCommitted(
        batch=4,
        operator="dedupe",
        rows=50,
        bytes=2048,
        commit_ms=250,
        duplicates=3,
        late_dropped=2,
        watermark="2026-01-01T00:00:09.000Z",
    )
    metrics = metrics_of(make_config())
    for _ in range(2):
        metrics.batch_committed(replace(PROGRESS, states=(state,)))
    metrics.batch_committed(replace(PROGRESS, states=(replace(state, rows=40, watermark=None),)))
    found = samples(metrics)
    assert found['enrichment_state_rows{operator="dedupe"}'] == 40
    assert found['enrichment_state_bytes{operator="dedupe"}'] == 2048
    assert found['enrichment_state_commit_seconds_sum{operator="dedupe"}'] == 0.75
    assert found['enrichment_duplicates_dropped_total{operator="dedupe"}'] == 9
    assert found['enrichment_late_dropped_total{operator="dedupe"}'] == 6
    assert found["enrichment_watermark_timestamp_seconds"] == 1767225609


def test_slow_commits_are_counted() -> None:
    metrics = metrics_of(make_config())
    assert samples(metrics)["enrichment_commits_slow_total"] == 0
    metrics.commit_slow()
    assert samples(metrics)["enrichment_commits_slow_total"] == 1


def test_the_ledger_stands_beside_its_bounds() -> None:
    config = make_config(deferral={"max_entries": 7, "max_bytes": "1MiB"})
    metrics = metrics_of(config)
    assert "enrichment_deferred_entries" not in samples(metrics)
    metrics.watch_ledger(lambda: (5, 600, 2))
    found = samples(metrics)
    assert [found[f"enrichment_deferred_{what}"] for what in ("entries", "bytes", "pages")] == [5, 600, 2]
    assert [found[f"enrichment_deferral_max_{what}"] for what in ("entries", "bytes")] == [7, 1024 * 1024]


def test_a_breaker_is_reported_from_the_first_time_that_it_opened() -> None:
    metrics = metrics_of(make_config())
    known: dict[tuple[Grain, str], int] = {}
    metrics.watch_breakers(lambda: known, lambda: 7)
    assert not [name for name in samples(metrics) if "breaker" in name]
    for is_open in (True, False):
        known["wiki", "enwiki"] = known["endpoint", ""] = is_open
        found = samples(metrics)
        assert found['enrichment_breaker_open{grain="wiki",wiki="enwiki"}'] == is_open
        assert found['enrichment_breaker_open{grain="endpoint",wiki=""}'] == is_open
        assert found["enrichment_deferred_unhealthy_entries"] == 7
    del known["wiki", "enwiki"]
    assert [name for name in samples(metrics) if "breaker" in name] == [
        'enrichment_breaker_open{grain="endpoint",wiki=""}'
    ]


def test_what_an_aligned_source_planned_is_asked_for() -> None:
    metrics = metrics_of(make_config())
    statuses = [None, PlanStatus(at_s=1, common_ms=7_500, partitions=())]
    metrics.watch_event_times(lambda: statuses.pop(0))
    assert "enrichment_event_time_common_timestamp_seconds" not in samples(metrics), "before the first plan"
    assert samples(metrics)["enrichment_event_time_common_timestamp_seconds"] == 7.5


def test_the_lag_is_that_of_each_partition_with_its_age() -> None:
    metrics = metrics_of(make_config())
    metrics._lag.lag = (
        Noted(990.0, -5.0),
        SourceLag(
            {SourcePartition("a", 0): 3, SourcePartition("b", 0): 7, SourcePartition("b", 31): 0},
            {SourcePartition("a", 0): 1.5, SourcePartition("b", 0): 2.5, SourcePartition("b", 31): 0.0},
        ),
    )
    found = samples(metrics)
    assert found['enrichment_lag_events{topic="a",partition="0"}'] == 3
    assert found['enrichment_lag_events{topic="b",partition="0"}'] == 7
    assert found['enrichment_lag_events{topic="b",partition="31"}'] == 0
    assert found['enrichment_lag_seconds{topic="a",partition="0"}'] == 1.5
    assert found["enrichment_lag_timestamp_seconds"] == 990.0


def test_the_position_is_the_checkpoints_until_a_batch_was_committed() -> None:
    first, second = SourcePartition("source", 0), SourcePartition("other", 0)
    positions: list[dict[SourcePartition, int] | None] = [None, {first: 5, second: 6}]
    metrics = metrics_of(make_config(), initial=lambda: positions.pop(0))
    assert metrics._position() is None
    assert metrics._position() == {first: 5, second: 6}
    metrics.batch_committed(PROGRESS)
    assert metrics._position() == {first: 12, second: 6}
    assert positions == []


def test_every_metric_can_be_reported() -> None:
    reported = [family.name for family in metrics_of(make_config()).collect()]
    assert reported == [metric.name for metric in METRICS]


@pytest.fixture
def served() -> Iterator[str]:
    metrics = metrics_of(make_config(metrics={"port": 0, "lag_interval": "1h"}), main=measurements("output"))
    metrics._lag._connect = lambda: pytest.fail("nobody asked")  # type: ignore[assignment]
    metrics._lag.start = lambda: None  # type: ignore[method-assign]
    metrics._jvm.start = lambda: None  # type: ignore[method-assign]
    yield metrics.start()
    metrics.close()


def test_prometheus_can_read_it(served: str) -> None:
    assert served.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(served, timeout=10) as answer:
        families = list(text_string_to_metric_families(answer.read().decode()))
    (events,) = [family for family in families if family.name == EVENTS.name]
    assert [(sample.labels, sample.value) for sample in events.samples] == [({"lane": "main", "outcome": "output"}, 1)]
    assert events.documentation == EVENTS.help


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        metrics = metrics_of(make_config(metrics={"port": port}))
        with pytest.raises(RefusedError, match=rf"metrics.port: 127.0.0.1:{port} cannot be served: Address already"):
            metrics.start()


def test_a_name_used_twice_ends_the_start() -> None:
    rename = {"enrichment_deferred_entries": "enrichment_lag_events"}
    with pytest.raises(RefusedError, match="two metrics of one name"):
        metrics_of(make_config(metrics={"rename": rename}))


def test_empty_lanes_say_nothing_of_levels() -> None:
    metrics = metrics_of(make_config(), main=SimpleNamespace(value=Measurements()))
    assert not [name for name in samples(metrics) if "peak" in name]


def part(topic: str, *, read_ms: int | None, waiting_ms: int | None = None, held_s: float = 0) -> PartitionStatus:
    return PartitionStatus(
        topic=topic, partition=1, read_ms=read_ms, waiting_ms=waiting_ms, silent_s=0, idle=held_s == 0, held_s=held_s
    )


def levels(recorder: Recorder) -> dict[tuple[str, str], float]:
    measurements = recorder.measurements()
    return {(key[0], key[1][0] if key[1] else ""): measurements.level(key) for key in measurements.levels}


def test_each_partition_stands_against_the_common_time() -> None:
    recorder = Recorder()
    status = PlanStatus(
        at_s=1,
        common_ms=7_500,
        partitions=(part("a", read_ms=7_500, waiting_ms=9_000), part("b", read_ms=2_000, held_s=4)),
    )
    record_event_times(status, recorder)
    assert levels(recorder) == {
        (catalogue.EVENT_TIME_COMMON.name, ""): 7.5,
        (catalogue.EVENT_TIME.name, "a"): 7.5,
        (catalogue.EVENT_TIME.name, "b"): 2.0,
        (catalogue.EVENT_TIME_WAITING.name, "a"): 9.0,
        (catalogue.EVENT_TIME_HELD.name, "a"): 0.0,
        (catalogue.EVENT_TIME_HELD.name, "b"): 4.0,
        (catalogue.EVENT_TIME_IDLE.name, "a"): 1.0,
        (catalogue.EVENT_TIME_IDLE.name, "b"): 0.0,
    }
    assert all(labels == ("a", "1") for (_, labels) in recorder.measurements().levels if labels and labels[0] == "a")


def test_what_waits_no_more_is_gone() -> None:
    recorder = Recorder()
    record_event_times(
        PlanStatus(at_s=1, common_ms=None, partitions=(part("a", read_ms=None, waiting_ms=5),)), recorder
    )
    assert (catalogue.EVENT_TIME_WAITING.name, "a") in levels(recorder)
    assert (catalogue.EVENT_TIME.name, "a") not in levels(recorder), "nothing was read of it"
    record_event_times(PlanStatus(at_s=2, common_ms=5, partitions=(part("a", read_ms=5),)), recorder)
    assert (catalogue.EVENT_TIME_WAITING.name, "a") not in levels(recorder)
    assert levels(recorder)[catalogue.EVENT_TIME.name, "a"] == 0.005
