"""What an arm makes of a program's own metrics."""

import pytest

from devkit.observe.metrics import Scraper
from tests.unit.devkit.scenario.arm.stage import Stage


class TestMetrics:
    """What the pipeline serves is read at each sample, from the newest process and only while it lives."""

    @pytest.fixture
    def asked(self, stage: Stage) -> list[str]:
        urls: list[str] = []

        def get(url: str) -> str:
            urls.append(url)
            return f"up {len(urls)}\n"

        stage.arm.scraper = Scraper(get)
        return urls

    def test_at_each_sample_once_it_is_served(self, stage: Stage, asked: list[str]) -> None:
        stage.sample()
        stage.take({"event": "metrics", "url": "http://here/metrics"})
        stage.sample()
        stage.sample()
        assert asked == ["http://here/metrics"] * 2
        assert stage.arm.scraper.scraped().pages == 2

    def test_not_of_a_process_that_has_ended(self, stage: Stage, asked: list[str]) -> None:
        stage.take({"event": "metrics", "url": "http://here/metrics"})
        stage.sample()
        stage.sample(last=True)
        stage.take({"event": "process_ended", "process": 1, "exit_code": 1})
        stage.sample()
        stage.take({"event": "process_restarted", "process": 2, "pid": 7})
        stage.take({"event": "metrics", "url": "http://there/metrics"})
        stage.sample()
        assert asked == ["http://here/metrics", "http://there/metrics"]
        stage.arm.scraper.write(stage.directory)
        assert (stage.directory / "metrics-1.txt").read_text() == "up 1\n"
        assert (stage.directory / "metrics-2.txt").read_text() == "up 2\n"

    def test_a_line_without_an_address_serves_nothing(self, stage: Stage, asked: list[str]) -> None:
        stage.take({"event": "metrics", "url": 7})
        stage.sample()
        assert asked == []
