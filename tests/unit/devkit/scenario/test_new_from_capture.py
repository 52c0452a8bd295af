"""A commented scenario whose traffic is a capture: it can be played as it is, however large the capture is."""

from pathlib import Path
from typing import Any

import pytest

from devkit.errors import UsageError
from devkit.scenario.load import load_file
from devkit.scenario.new import TEMPLATE, write_new
from devkit.traffic.all_streams import generate_all
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import Traffic
from tests.unit.devkit.traffic.capture.captures import capture_of


def captured(path: Path, *, partitions: int = 1, **traffic: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    spec = TrafficSpec.model_validate({"seed": 3, "rate": "20/s", "for": "30s", **traffic})
    return capture_of(generate_all(spec), path, partitions=partitions)


@pytest.mark.parametrize(
    ("traffic", "rate", "share"),
    [
        ({}, "x1.4", 0.1),
        ({"rate": "100/s", "for": "6s"}, "x0.3", 0.1),
        ({"rate": "2/s", "for": "10m"}, "x19.9", 0.1),
        ({"rate": "1/s", "for": "40s", "population": 12, "mix": {"create": 0}}, "x1.9", 0.5),
        ({"rate": "1/s", "for": "3s", "population": 2}, "x1", None),
    ],
)
def test_it_is_valid_and_nothing_in_it_is_doubtful(
    traffic: dict[str, Any], rate: str, share: float | None, tmp_path: Path
) -> None:
    path = captured(tmp_path / "captures" / "c.jsonl", **traffic)
    file = write_new("mine", tmp_path / "own", capture=path)
    loaded = load_file(file)
    assert loaded.warnings() == []
    assert '  from: "../captures/c.jsonl"\n' in file.read_text()
    assert f"  rate: {rate}\n" in file.read_text()
    scenario = loaded.scenario
    assert (scenario.name, scenario.mock.rules[0].when.share) == ("mine", share)
    assert scenario.traffic.rate <= 41
    assert scenario.until.deadline > 2 * scenario.traffic.last_event


def test_its_topics_are_as_they_were_captured(tmp_path: Path) -> None:
    traffic = {"pages": {"Huge": {"event_bytes": "3MiB"}}}
    traffic |= {"streams": {"other": {"topic": "other.v1", "rate": "1/s", "for": "3s"}}}
    file = write_new("mine", tmp_path, capture=captured(tmp_path / "c.jsonl", partitions=3, **traffic))
    scenario = load_file(file).scenario
    assert scenario.kafka.topics.source.partitions == 3
    assert scenario.kafka.topics.source.max_message_bytes == scenario.kafka.topics.output.max_message_bytes == 4 << 20
    assert scenario.pipeline["source"] == {"topics": ["mediawiki.page_change.v1", "other.v1"]}


def test_the_rest_of_it_is_that_of_the_commented_one(tmp_path: Path) -> None:
    text = write_new("mine", tmp_path, capture=captured(tmp_path / "c.jsonl")).read_text()
    commented = TEMPLATE.read_text()
    for section in ("mock:", "pipeline:", "arms:", "expect:"):
        assert f"\n{section}\n" in text
    after = commented.partition("# ---- What incident and fix differ in ----")[2]
    assert text.endswith(after)


@pytest.mark.parametrize("count", [0, None])
def test_what_cannot_be_played_is_refused_and_nothing_is_left(count: int | None, tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    if count == 0:
        capture_of(Traffic((), ()), path)
    with pytest.raises(UsageError, match=r"c\.jsonl (has no event|cannot be read)"):
        write_new("mine", tmp_path / "own", capture=path)
    assert not (tmp_path / "own").exists()
