"""What a sampler reads: pages of metrics as a scraper has them, and the use of a tree of processes."""

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psutil
import pytest
import requests
from hypothesis import example, given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server

from devkit.observe.samples.metrics import NOTHING_SCRAPED, Scraper, fetch, read_page
from devkit.observe.samples.usage import TreeUsage

LAG_0 = ("lag", frozenset({("partition", "0")}))
UP = ("up", frozenset[tuple[str, str]]())


class Pages:
    """What an endpoint answers, one after the other; an exception is raised."""

    def __init__(self, *answers: str | Exception) -> None:
        self._answers = iter(answers)

    def __call__(self, url: str) -> str:
        assert url == "http://here/metrics"
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return answer


def scraper(*answers: str | Exception, processes: tuple[int, ...] | None = None) -> Scraper:
    made = Scraper(Pages(*answers))
    for process in processes or (1,) * len(answers):
        made.look(process, "http://here/metrics")
    return made


@pytest.fixture
def endpoint() -> Iterator[tuple[str, CollectorRegistry]]:
    registry = CollectorRegistry()
    server, thread = start_http_server(0, addr="127.0.0.1", registry=registry)
    yield f"http://127.0.0.1:{server.server_port}/metrics", registry
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_page_of_a_real_endpoint(endpoint: tuple[str, CollectorRegistry]) -> None:
    url, registry = endpoint
    Gauge("lag", "Lag.", ["partition"], registry=registry).labels("0").set(3)
    Counter("events", "Events.", registry=registry).inc(5)
    page = read_page(fetch(url))
    assert page[LAG_0] == 3
    assert page["events_total", frozenset()] == 5


def test_a_page_that_is_not_there_raises(endpoint: tuple[str, CollectorRegistry]) -> None:
    url, _registry = endpoint
    with pytest.raises(requests.RequestException):
        fetch("http://127.0.0.1:1/metrics")
    assert fetch(url) == ""


@given(st.text(alphabet='ab{}=",\\ \n#1.eTYPHLN+-Inf', max_size=30))
@example("{, =11")
def test_whatever_a_server_answers_is_a_page_or_none(text: str) -> None:
    assert scraper(text).scraped().pages in (0, 1)


def test_the_highest_of_all_pages_and_what_stands_on_the_last_of_each_process() -> None:
    assert Scraper().scraped() == NOTHING_SCRAPED
    scraped = scraper('lag{partition="0"} 2\nup 1\n', 'lag{partition="0"} 7\nup 1\n', "up 1\n").scraped()
    assert (scraped.pages, {**scraped.highest}) == (3, {LAG_0: 7, UP: 1})
    assert scraped.present == {UP}
    of_two = scraper('lag{partition="0"} 2\n', "up 1\n", processes=(1, 2)).scraped()
    assert of_two.present == {LAG_0, UP}


def test_what_never_was_a_number_is_known_all_the_same() -> None:
    assert scraper("up NaN\n").scraped().highest == {UP: -math.inf}
    assert scraper("up NaN\n", "up 2\n", "up NaN\n").scraped().highest == {UP: 2}


@pytest.mark.parametrize(
    ("failure", "message"),
    [(requests.ConnectionError("nobody listens"), "http://here/metrics: nobody listens"), ("<html>", "ValueError")],
)
def test_a_scrape_that_fails_counts_as_none(failure: str | Exception, message: str) -> None:
    scraped = scraper("up 1\n", failure).scraped()
    assert (scraped.pages, scraped.present) == (1, {UP})
    assert scraped.failed.startswith(message)


def test_the_last_pages_are_kept_as_they_were(tmp_path: Path) -> None:
    scraper("up 1\n", "up 2\n", "up 3\n", processes=(1, 1, 2)).write(tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "metrics-1.txt": "up 2\n",
        "metrics-2.txt": "up 3\n",
    }


@dataclass(eq=False)
class Process:
    user_s: float = 0.0
    rss: int = 100
    gone: bool = False

    @contextlib.contextmanager
    def oneshot(self) -> Iterator[None]:
        yield

    def cpu_times(self) -> Any:
        if self.gone:
            raise psutil.NoSuchProcess(1)
        return SimpleNamespace(user=self.user_s, system=0.25)

    def memory_info(self) -> Any:
        return SimpleNamespace(rss=self.rss)


@dataclass
class Machine:
    processes: list[Process]
    now: float = 10.0

    def usage(self) -> TreeUsage:
        return TreeUsage(lambda: cast(list[psutil.Process], self.processes), clock=lambda: self.now)


def test_cores_are_cpu_seconds_a_second_since_the_look_before() -> None:
    jvm, worker = Process(user_s=1.0), Process(user_s=0.0, rss=40)
    machine = Machine([jvm, worker])
    usage = machine.usage()
    machine.now += 2
    assert usage.look().cpu_cores == pytest.approx((1.25 + 0.25) / 2)
    jvm.user_s, worker.user_s = 1.5, 0.1
    machine.now += 0.5
    look = usage.look()
    assert (look.cpu_cores, look.memory_bytes) == (pytest.approx(1.2), 140)


def test_what_ended_takes_nothing_away_from_the_rest() -> None:
    old, steady = Process(user_s=50.0), Process(user_s=1.0)
    machine = Machine([old, steady])
    usage = machine.usage()
    machine.now += 1
    usage.look()
    machine.processes, steady.user_s, machine.now = [steady], 1.5, machine.now + 1
    assert usage.look().cpu_cores == pytest.approx(0.5)


@pytest.mark.parametrize("processes", [[], [Process(gone=True)]], ids=["none", "one that ends while it is looked at"])
def test_no_processes_use_nothing(processes: list[Process]) -> None:
    machine = Machine(processes)
    usage = machine.usage()
    machine.now += 1
    look = usage.look()
    assert (look.cpu_cores, look.memory_bytes) == (0.0, 0)


def test_a_real_process() -> None:
    usage = TreeUsage(lambda: [psutil.Process()])
    look = usage.look()
    assert look.memory_bytes > 1_000_000
    assert look.cpu_cores > 0
