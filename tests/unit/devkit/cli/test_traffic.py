from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from devkit.errors import StackError
from devkit.faults.journal import Journal
from devkit.faults.parts.pause import Pause
from devkit.scenario.load import load_scenario
from devkit.traffic.manifest import ManifestEntry
from devkit.traffic.records import Expected, Fate
from tests.unit.devkit.cli.conftest import Devkit, Kept
from tests.unit.devkit.conftest import TEXT


class Published:
    """Stands in for traffic on a stack; notes what it was asked for."""

    asked: Any = None
    does: Any = staticmethod(lambda: None)
    count = 600
    entries: tuple[ManifestEntry, ...] = ()

    def __init__(self, spec: Any, mock: Any, bootstrap: str, topic: str) -> None:
        self.topics = (topic,)
        type(self).asked = (spec.seed, spec.event_count, mock.direct, bootstrap, topic)

    def publish(self) -> None:
        type(self).does()

    def stop(self) -> tuple[ManifestEntry, ...]:
        return type(self).entries


def entry(fate: Fate, reason: str | None = None) -> ManifestEntry:
    return ManifestEntry(topic="t", partition=0, offset=0, expected=Expected(fate=fate, reason=reason))


@pytest.fixture(autouse=True)
def published(monkeypatch: pytest.MonkeyPatch, kept: Kept) -> type[Published]:
    kept(
        kafka="127.0.0.1:1",
        kafka_direct="127.0.0.1:2",
        mock_API="http://127.0.0.1:3",
        mock_API_direct="http://127.0.0.1:4",
        logs="/nowhere/logs",
    )
    monkeypatch.setattr(Published, "does", staticmethod(lambda: None))
    monkeypatch.setattr("devkit.debug.stack_traffic.StackTraffic", Published)
    return Published


def test_it_goes_past_the_proxy_to_the_source_topic_of_the_pipeline(
    devkit: Devkit, published: type[Published], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = SimpleNamespace(config=SimpleNamespace(source=SimpleNamespace(topic="the.source")))
    monkeypatch.setattr(
        "devkit.debug.pipeline_place.find_place", lambda logs: place if logs == Path("/nowhere/logs") else None
    )
    finished = devkit("traffic", "--rate", "10/s", "--for", "1m", "--seed", "3")
    assert finished.code == 0, finished.err
    assert published.asked == (3, 600, "http://127.0.0.1:4", "127.0.0.1:2", "the.source")
    assert finished.err == "stack cafe0001: 600 events to the.source, over 60 s; Ctrl-C ends it\n"
    assert finished.out == "stack cafe0001: published 0 of 600 events to the.source; `devkit lag` follows them\n"


def test_at_its_end_it_says_what_is_out_and_how_that_has_to_end(
    devkit: Devkit, published: type[Published], monkeypatch: pytest.MonkeyPatch
) -> None:
    filtered = [entry("filtered", "canary")] * 3 + [entry("filtered", "content_model")]
    monkeypatch.setattr(published, "entries", (*[entry("output")] * 5, entry("error", "malformed_json"), *filtered))
    monkeypatch.setattr(published, "count", 10)
    assert devkit("traffic", "--topic", "mine").out == (
        "stack cafe0001: published 10 events to mine; `devkit lag` follows them\n"
        "they have to end: 5 as output, 1 as error event (malformed_json: 1), "
        "4 filtered (canary: 3, content_model: 1)\n"
    )


def test_that_of_a_scenario(devkit: Devkit, published: type[Published], here: Path) -> None:
    (here / "mine.yaml").write_text(TEXT)
    finished = devkit("traffic", "mine.yaml", "--topic", "mine", "--set", "traffic.for=2s")
    assert finished.code == 0, finished.err
    spec = load_scenario(here / "mine.yaml").traffic
    seed, count, *_ = published.asked
    assert seed == spec.seed
    assert 0 < count < spec.event_count
    devkit("traffic", "mine.yaml", "--topic", "mine", "--seed", "77")
    assert published.asked[:2] == (77, spec.event_count)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mine.yaml", "--rate", "5/s"), "--rate: the scenario has its own\nhint: write --set traffic.rate=5/s"),
        (("mine.yaml", "--for", "5s"), "--for: the scenario has its own\nhint: write --set traffic.for=5s"),
        (("--set", "traffic.rate=5/s"), "--set replaces values of a scenario, and none is named"),
        (("no-such",), "no-such"),
    ],
)
def test_what_does_not_go_together_is_refused(
    devkit: Devkit, here: Path, arguments: tuple[str, ...], message: str
) -> None:
    (here / "mine.yaml").write_text(TEXT)
    finished = devkit("traffic", "--topic", "mine", *arguments)
    assert finished.code == 2
    assert message in finished.err


def test_without_a_pipeline_a_topic_has_to_be_named(devkit: Devkit, published: type[Published]) -> None:
    assert "no pipeline was started" in devkit("traffic").err
    assert devkit("traffic", "--topic", "mine").code == 0
    assert published.asked[-1] == "mine"


def test_an_interrupt_ends_it_and_is_no_failure(
    devkit: Devkit, published: type[Published], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(published, "does", staticmethod(interrupted))
    assert devkit("traffic", "--topic", "mine").code == 0


def test_what_is_no_rate_says_where(devkit: Devkit) -> None:
    finished = devkit("traffic", "--rate", "5", "--topic", "mine")
    assert (finished.code, finished.err.startswith("error: --rate: not a rate (got '5'); write 20/s")) == (2, True)


def test_a_fault_that_keeps_it_from_publishing_is_named(
    devkit: Devkit, published: type[Published], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise StackError("publishing failed")

    monkeypatch.setattr(published, "does", staticmethod(fails))
    assert devkit("traffic", "--topic", "mine").err.splitlines()[1].startswith("error: publishing failed")
    Journal("cafe0001").open("still", Pause(part="mock-api"), holder=1)
    finished = devkit("traffic", "--topic", "mine")
    assert finished.code == 3
    assert "nothing can be published to topic mine: mock-api does not answer while a fault holds it" in finished.err
    assert "hint: fault still holds mock-api" in finished.err
