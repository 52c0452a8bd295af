"""What an arm makes of a program's own metrics."""

import pytest

from devkit.observe.logs.logs import UnknownLine
from devkit.observe.samples.metrics import Scraper
from devkit.observe.timeline.kit_events import ProcessEnded, ProcessRestarted
from pipeline.events import MetricsServed
from tests.unit.devkit.play.arm.stage import Stage


class TestMetrics:
    """What the pipeline serves is read at each sample, from the newest process and only while it lives."""

    @pytest.fixture
    def asked(self, stage: Stage) -> list[str]:
        urls: list[str] = []

        def get(url: str) -> str:
            urls.append(url)
            return f"up {len(urls)}\n"

        stage.arm.scrapers = {stage.arm.main.name: Scraper(get)}
        return urls

    def test_at_each_sample_once_it_is_served(self, stage: Stage, asked: list[str]) -> None:
        stage.sample()
        stage.take(MetricsServed(url="http://here/metrics"))
        stage.sample()
        stage.sample()
        assert asked == ["http://here/metrics"] * 2
        assert stage.arm.scrapers[stage.arm.main.name].scraped().pages == 2

    def test_not_of_a_process_that_has_ended(self, stage: Stage, asked: list[str]) -> None:
        stage.take(MetricsServed(url="http://here/metrics"))
        stage.sample()
        stage.sample(last=True)
        stage.take(ProcessEnded(process=1, exit_code=1))
        stage.sample()
        stage.take(ProcessRestarted(process=2))
        stage.take(MetricsServed(url="http://there/metrics"))
        stage.sample()
        assert asked == ["http://here/metrics", "http://there/metrics"]
        stage.arm.scrapers[stage.arm.main.name].write(stage.directory)
        assert (stage.directory / "metrics-1.txt").read_text() == "up 1\n"
        assert (stage.directory / "metrics-2.txt").read_text() == "up 2\n"

    def test_a_line_without_an_address_serves_nothing(self, stage: Stage, asked: list[str]) -> None:
        stage.take(UnknownLine("metrics", {"url": 7}))
        stage.sample()
        assert asked == []
