"""Scrapes the pipeline's own metrics endpoint during an arm, as Prometheus would.

A process logs the event `metrics` with the `url` of its endpoint. A series is the name of a metric with its labels. The
last page of each process is kept beside its configuration, as evidence.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import requests
from prometheus_client.parser import text_string_to_metric_families

from devkit.loopback import loopback_session
from devkit.network_cause import network_cause
from devkit.observe.time_series import Point, TimeSeries

_TIMEOUT_S = 2.0
_SHOWN = 200

Labels = frozenset[tuple[str, str]]
Series = tuple[str, Labels]
Page = Mapping[Series, float]


@dataclass(frozen=True)
class Scraped:
    """`pages` were read. `present` is on the last page of some process; `highest` is of all pages, -inf of a series
    that never was a number, `courses` has the values of each. `failed` says why the last scrape that failed did, empty
    when none has.
    """

    pages: int = 0
    present: frozenset[Series] = frozenset()
    highest: Page = field(default_factory=dict)
    failed: str = ""
    courses: Mapping[Series, TimeSeries] = field(default_factory=dict)


NOTHING_SCRAPED = Scraped()


def read_page(text: str) -> Page:
    """Raises ValueError for what is no page of metrics."""
    try:
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for metric in text_string_to_metric_families(text)
            for sample in metric.samples
        }
    except IndexError as error:  # the library's, of a label without a name
        raise ValueError("not a page of metrics: a label has no name") from error


def fetch(url: str) -> str:
    """Raises requests.RequestException."""
    with loopback_session() as session:
        answer = session.get(url, timeout=_TIMEOUT_S)
        answer.raise_for_status()
        return answer.text


class Scraper:
    """A scrape that fails is recorded and raises nothing."""

    def __init__(self, get: Callable[[str], str] = fetch) -> None:
        self._get = get
        self._last: dict[int, tuple[str, Page]] = {}
        self._highest: dict[Series, float] = {}
        self._courses: dict[Series, list[Point]] = {}
        self._pages = 0
        self._failed = ""

    def look(self, process: int, url: str, at_s: float = 0.0) -> None:
        """Read the page that pipeline process `process` serves now, `at_s` from the arm's start."""
        try:
            text = self._get(url)
            page = read_page(text)
        except requests.RequestException as error:
            self._failed = f"{url}: {network_cause(error)}"[:_SHOWN]
            return
        except ValueError as error:
            self._failed = f"{type(error).__name__}: {error}"[:_SHOWN]
            return
        self._pages += 1
        self._last[process] = (text, page)
        for series, value in page.items():
            number = -math.inf if math.isnan(value) else value
            self._highest[series] = max(number, self._highest.get(series, -math.inf))
            if math.isfinite(value):
                self._courses.setdefault(series, []).append((at_s, value))

    def newest(self, process: int) -> Page:
        """The last page of that process; empty where none was read."""
        return self._last[process][1] if process in self._last else {}

    def scraped(self) -> Scraped:
        """A snapshot: later looks do not change it."""
        courses = {series: tuple(points) for series, points in self._courses.items()}
        return Scraped(self._pages, frozenset(self._present()), dict(self._highest), self._failed, courses)

    def write(self, directory: Path) -> None:
        """The last page of each process as `metrics-<process>.txt`."""
        for process, (text, _page) in self._last.items():
            (directory / f"metrics-{process}.txt").write_text(text, encoding="utf-8")

    def _present(self) -> Iterator[Series]:
        for _text, page in self._last.values():
            yield from page
