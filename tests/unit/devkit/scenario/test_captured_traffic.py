"""A scenario that plays a capture: where its file is looked for, and what of it the rest of the scenario has to fit."""

from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.scenario.load import load_file, load_scenario
from devkit.traffic.generate import generate
from devkit.traffic.model import TrafficSpec
from tests.unit.devkit.traffic.capture.captures import TOPIC, capture_of

BASE = """
name: captured
title: What was captured is played
incident: {{ reference: none }}
traffic: {{ from: captures/c.jsonl, rate: x2 }}
kafka: {{ topics: {{ source: {{ partitions: {partitions}, max.message.bytes: {limit} }} }} }}
mock: {{ rules: [{{ name: slow, when: {{ page: {page} }}, do: {{ latency: 1s }} }}] }}
pipeline: {{ source: {{ topics: [{sources}] }} }}
until: {{ any: [{{ drained: true }}], deadline: 60s }}
arms: {{ incident: {{ fetch: {{ concurrency: 1 }} }}, fixed: }}
expect: {{ incident: [{{ lag: {{ of: highest, at_least: 5 }} }}], fixed: [{{ drained: true }}, {{ audit: clean }}] }}
"""
FIT = {"partitions": "3", "limit": "1MiB", "page": "Hot page", "sources": "mediawiki.page_change.v1"}

Written = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """A scenario with a capture beside it, of which text was kept."""
    spec = {"seed": 3, "rate": "20/s", "for": "5s", "pages": {"Hot page": {"event_bytes": "5KiB"}}}
    spec |= {"streams": {"other": {"topic": "other.v1", "rate": "1/s", "for": "1s"}}}

    def write(*, other: bool = False, **changes: str) -> Path:
        (tmp_path / "captures").mkdir()
        model = TrafficSpec.model_validate(spec)
        traffic = generate(model)
        if other:
            from devkit.traffic.all_streams import generate_all

            traffic = generate_all(model)
        capture_of(traffic, tmp_path / "captures" / "c.jsonl", partitions=3, keep_text=True)
        path = tmp_path / "s.yaml"
        path.write_text(BASE.format(**(FIT | changes)))
        return path

    return write


def test_its_path_is_from_the_file(written: Written, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = load_file(written())
    assert file.scenario.traffic.event_count == 101
    assert file.warnings() == []
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert load_scenario(Path("../s.yaml")).traffic.event_count == 101


def test_a_page_of_the_capture_can_be_named_and_no_other(written: Written) -> None:
    with pytest.raises(InvalidFileError, match=r"there is no page 'Cold page' in traffic.pages; look its title up"):
        load_scenario(written(page="Cold page"))


def test_fewer_partitions_than_were_captured_are_doubtful(written: Written) -> None:
    (warning,) = load_file(written(partitions="1")).warnings()
    assert "s.yaml:5:12: warning: traffic.from: its topic has 3 partitions, and the source topic here 1" in warning


def test_an_event_that_the_topic_does_not_take_is_refused(written: Written, tmp_path: Path) -> None:
    path = written(limit="5KiB")
    lines = (tmp_path / "captures" / "c.jsonl").read_text().splitlines()
    number = next(number for number, line in enumerate(lines, 1) if '"bytes":5120' in line)
    problem = rf"traffic.from: .*c.jsonl:{number}:1: its largest event of 5120 bytes is more than the source"
    with pytest.raises(InvalidFileError, match=problem):
        load_scenario(path)


def test_a_further_topic_has_to_be_a_source_of_the_program(written: Written) -> None:
    path = written(other=True)
    with pytest.raises(InvalidFileError, match=r"of arm incident does not read topic 'other.v1' of the capture; let"):
        load_scenario(path)
    path.write_text(BASE.format(**FIT | {"sources": "mediawiki.page_change.v1, other.v1"}))
    traffic = load_scenario(path).traffic
    assert traffic.from_ is not None
    assert list(traffic.from_.outline.topics) == [TOPIC, "other.v1"]


def test_a_line_that_is_wrong_is_named_with_the_place_in_the_scenario(written: Written, tmp_path: Path) -> None:
    path = written()
    capture = tmp_path / "captures" / "c.jsonl"
    capture.write_text(capture.read_text().replace('"offset":', '"ofset":', 1))
    with pytest.raises(
        InvalidFileError, match=r"s.yaml:5:12: traffic.from: .*c.jsonl:2:1: ofset: unknown key; did you"
    ):
        load_scenario(path)
