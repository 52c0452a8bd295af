from dataclasses import replace
from pathlib import Path

from devkit.headroom.shortage import Headroom
from devkit.observe.samples.metrics import NOTHING_SCRAPED, Scraped
from devkit.play.recording import RECORDING, Recording
from tests.unit.devkit.headroom.readings import samples
from tests.unit.devkit.observed import an_observation, observed_with


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    recording = Recording(an_observation(stalls=("no commit",)), Headroom(samples(1, 2, 3), stretch=2))
    recording.write(tmp_path)
    assert Recording.read((tmp_path / RECORDING).read_bytes()) == recording


def test_pages_of_metrics_are_left_out(tmp_path: Path) -> None:
    series = ("lag", frozenset({("partition", "0")}))
    recording = Recording(an_observation(metrics=Scraped(1, frozenset({series}), {series: 2.0})), Headroom(()))
    recording.write(tmp_path)
    bare = replace(recording, observation=observed_with(recording.observation, metrics=NOTHING_SCRAPED))
    assert Recording.read((tmp_path / RECORDING).read_bytes()) == bare
