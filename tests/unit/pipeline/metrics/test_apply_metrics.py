import contextlib
import socket
import urllib.parse
import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from pipeline.config.metrics_section import Metrics
from pipeline.errors import RefusedError
from pipeline.metrics import apply_catalogue as catalogue
from pipeline.metrics import endpoint
from pipeline.metrics.apply_metrics import ApplyMetrics
from pipeline.metrics.clocks import Clocks
from pipeline.metrics.endpoint import MOST_CONNECTIONS, serve
from pipeline.records.record import SourcePartition

PARTITION = SourcePartition("mutations", 0)


def metrics_of(offset: int | None, settings: Metrics | None = None, *, is_down: bool = False) -> ApplyMetrics:
    return ApplyMetrics(
        settings or Metrics(),
        "127.0.0.1:1",
        PARTITION,
        next_offset=lambda: offset,
        is_store_down=lambda: is_down,
        clocks=Clocks(now=lambda: 1000.0, monotonic=lambda: 5.0),
    )


def page(metrics: ApplyMetrics) -> list[str]:
    registry = CollectorRegistry()
    registry.register(metrics)
    return generate_latest(registry).decode().splitlines()


def test_what_is_looked_up_when_it_is_asked_for() -> None:
    lines = page(metrics_of(7, is_down=True))
    assert "enrichment_apply_next_offset 7.0" in lines
    assert "enrichment_apply_store_down 1.0" in lines
    assert "enrichment_apply_started_timestamp_seconds 1000.0" in lines
    assert "enrichment_apply_repeats_dropped_total 0.0" in lines


def test_an_offset_that_is_not_known_is_not_reported() -> None:
    lines = page(metrics_of(None))
    assert [line for line in lines if line.startswith("enrichment_apply_next_offset ")] == []
    assert "enrichment_apply_store_down 0.0" in lines


def test_what_the_loop_has_counted() -> None:
    metrics = metrics_of(7)
    metrics.recorder.count(catalogue.MUTATIONS, "diff", by=3)
    metrics.recorder.observe(catalogue.STORE_SECONDS, 0.02, "update")
    lines = page(metrics)
    assert 'enrichment_apply_mutations_total{operation="diff"} 3.0' in lines
    assert 'enrichment_apply_store_seconds_bucket{kind="update",le="0.025"} 1.0' in lines


def test_names_are_checked() -> None:
    metrics_of(None, Metrics(required=("enrichment_lag_events", "enrichment_apply_mutations_total")))
    with pytest.raises(RefusedError, match="no metric is reported as enrichment_batch_rows"):
        metrics_of(None, Metrics(required=("enrichment_batch_rows",)))


class OneGauge(Collector):
    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield GaugeMetricFamily("of_the_test", "", value=7)


@pytest.fixture
def url() -> Iterator[str]:
    serving = serve(OneGauge(), host="127.0.0.1", port=0)
    yield serving.url
    serving.close()


def fetch_page(url: str) -> str:
    with urllib.request.urlopen(url, timeout=20) as response:
        return str(response.read().decode())


def connected(url: str) -> socket.socket:
    address = urllib.parse.urlsplit(url)
    return socket.create_connection((address.hostname, address.port), timeout=20)


def test_those_who_send_nothing_keep_no_scrape_away_and_make_room(url: str) -> None:
    with contextlib.ExitStack() as closing:
        silent = [closing.enter_context(connected(url)) for _ in range(3 * MOST_CONNECTIONS)]
        for one in silent[::2]:
            one.sendall(b"GET /met")
        assert "of_the_test 7.0" in fetch_page(url)
        assert all(one.recv(1) == b"" for one in silent[: 2 * MOST_CONNECTIONS + 1]), "closed"


def test_who_sends_nothing_is_not_waited_for_long_nor_complained_of(
    url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(endpoint._Handler, "timeout", 0.01)
    with connected(url) as silent:
        silent.sendall(b"GET /met")
        assert silent.recv(1) == b"", "closed"
    assert capfd.readouterr().err == ""
