"""Whatever `devkit scenario new` is asked for: the file that it writes passes `check` without a warning."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from devkit.errors import UsageError
from devkit.scenario.load import load_file
from devkit.scenario.model import Scenario
from devkit.scenario.new import TEMPLATE, write_new
from devkit.traffic.all_streams import generate_all
from devkit.traffic.model import TrafficSpec
from tests.unit.devkit.traffic.capture.captures import capture_of

SHIPPED = sorted((Path(__file__).parents[4] / "scenarios").glob("*.yaml"))
NAMES = st.from_regex(Scenario.model_json_schema()["properties"]["name"]["pattern"], fullmatch=True).map(str.strip)
PLACES = st.text("abc ABC:#'\"{}[]&*!|>%@`,-é", min_size=1, max_size=8).filter(lambda text: text.strip(" .") == text)
MIXES = st.fixed_dictionaries(
    {}, optional={kind: st.sampled_from((0, 0.1, 0.15)) for kind in ("create", "move", "delete", "canary", "not_json")}
)
WIKIS = st.sampled_from(
    ({"enwiki": "en.wikipedia.org"}, {"dewiki": "de.wikipedia.org", "zh_min_nanwiki": "zh-min-nan.wikipedia.org"})
)
FURTHER = st.sampled_from(({}, {"links": {"topic": "links.v1", "rate": "1/s", "for": "3s"}}))


@contextmanager
def somewhere() -> Iterator[Path]:
    """One directory for each example, as that of a test is for all of them."""
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory)


def is_as_it_should_be(file: Path, name: str) -> None:
    loaded = load_file(file)
    assert loaded.warnings() == []
    assert loaded.scenario.name == name == file.stem


@settings(max_examples=12)
@given(NAMES)
@example("null")
@example("on")
@example("12")
@example("2026-11-23")
@example("1e5")
@example("0x10")
def test_under_any_name(name: str) -> None:
    with somewhere() as directory:
        try:
            file = write_new(name, directory)
        except UsageError as error:
            assert "is no name for a scenario" in str(error)  # noqa: PT017
        else:
            is_as_it_should_be(file, name)


@pytest.mark.parametrize("source", [TEMPLATE, *SHIPPED], ids=lambda path: path.stem)
@pytest.mark.parametrize("name", ["mine", "2026-11-23"])
def test_from_any_scenario(source: Path, name: str, tmp_path: Path) -> None:
    file = write_new(name, tmp_path / "a: place", source)
    loaded = load_file(file)
    assert loaded.scenario.name == name
    assert len(loaded.warnings()) == len(load_file(source).warnings())


@settings(
    max_examples=12,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
    deadline=None,
)
@given(
    mix=MIXES,
    wikis=WIKIS,
    further=FURTHER,
    rate=st.sampled_from(("1/s", "7/s", "90/s")),
    for_=st.sampled_from(("1s", "5s", "40s")),
    largest=st.sampled_from((None, "200KiB", "3MiB")),
    partitions=st.integers(1, 5),
    keep_text=st.booleans(),
    place=PLACES,
    beside=st.booleans(),
)
def test_from_any_capture(
    mix: dict[str, float],
    wikis: dict[str, str],
    further: dict[str, Any],
    rate: str,
    for_: str,
    largest: str | None,
    partitions: int,
    keep_text: bool,
    place: str,
    beside: bool,
) -> None:
    pages = {"pages": {"Huge": {"event_bytes": largest}}} if largest else {}
    written = {"seed": 5, "rate": rate, "for": for_, "wikis": wikis, "mix": mix, "streams": further, **pages}
    with somewhere() as directory:
        capture = directory / place / f"{place}.jsonl"
        capture.parent.mkdir()
        traffic = generate_all(TrafficSpec.model_validate(written))
        capture_of(traffic, capture, partitions=partitions, keep_text=keep_text)
        to = capture.parent if beside else directory / "own"
        is_as_it_should_be(write_new("mine", to, capture=capture), "mine")
        shutil.rmtree(to)
