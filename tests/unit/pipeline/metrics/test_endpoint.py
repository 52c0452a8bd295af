import contextlib
import socket
import urllib.parse
import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from pipeline.metrics import endpoint
from pipeline.metrics.endpoint import MOST_CONNECTIONS, serve


class OneGauge(Collector):
    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield GaugeMetricFamily("of_the_test", "", value=7)


@pytest.fixture
def url() -> Iterator[str]:
    serving = serve(OneGauge(), host="127.0.0.1", port=0)
    yield serving.url
    serving.close()


def page(url: str) -> str:
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
        assert "of_the_test 7.0" in page(url)
        assert all(one.recv(1) == b"" for one in silent[: 2 * MOST_CONNECTIONS + 1]), "closed"


def test_who_sends_nothing_is_not_waited_for_long_nor_complained_of(
    url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(endpoint._Handler, "timeout", 0.01)
    with connected(url) as silent:
        silent.sendall(b"GET /met")
        assert silent.recv(1) == b"", "closed"
    assert capfd.readouterr().err == ""
