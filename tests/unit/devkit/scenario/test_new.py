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
from devkit.scenario import new
from devkit.scenario.load import load_file
from devkit.scenario.model import Scenario
from devkit.scenario.new import SCHEMA, TEMPLATE, modeline, write_new
from devkit.scenario.resolve import resolve
from devkit.traffic.all_streams import generate_all
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import Traffic
from tests.unit.devkit.traffic.capture.captures import capture_of

TOP = Path(__file__).parents[4]
SHIPPED = sorted((TOP / "scenarios").glob("*.yaml"))


def test_the_commented_file_is_valid_and_nothing_in_it_is_doubtful(tmp_path: Path) -> None:
    file = write_new("morning-outage", tmp_path)
    loaded = load_file(file)
    scenario = loaded.scenario
    assert (file.name, scenario.name) == ("morning-outage.yaml", "morning-outage")
    assert loaded.warnings() == []
    assert set(resolve(scenario).difference) == {"deferral.policy", "fetch.total_requests"}


def test_each_section_of_it_has_a_comment_before_it(tmp_path: Path) -> None:
    lines = write_new("mine", tmp_path).read_text().splitlines()
    for section in ("traffic:", "mock:", "pipeline:", "until:", "arms:", "expect:"):
        assert lines[lines.index(section) - 1].startswith("# "), section


@pytest.mark.parametrize("source", [TEMPLATE, *SHIPPED], ids=lambda path: path.stem)
def test_a_copy_differs_from_its_scenario_in_nothing_but_the_name(source: Path, tmp_path: Path) -> None:
    copy, original = load_file(write_new("2026-11-23", tmp_path / "a: place", source)), load_file(source)
    renamed = original.scenario.model_copy(update={"name": "2026-11-23"})
    assert copy.scenario.in_directory_of(original.scenario) == renamed
    assert len(copy.warnings()) == len(original.warnings())


def test_a_copy_keeps_the_comments_and_has_one_line_for_editors(tmp_path: Path) -> None:
    source = TOP / "scenarios" / "oversized-message.yaml"
    text = write_new("mine", tmp_path, source).read_text()
    assert text.count("$schema=") == 1
    assert text.splitlines()[2:] == source.read_text().splitlines()[2:]


def test_what_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("work of weeks\n")
    with pytest.raises(UsageError, match=r"mine\.yaml is there already"):
        write_new("mine", tmp_path)
    assert (tmp_path / "mine.yaml").read_text() == "work of weeks\n"


@pytest.mark.parametrize("name", ["My Own", "../mine", "latest", ""])
def test_a_name_that_cannot_be_one_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no name for a scenario"):
        write_new(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_copy_that_would_not_be_valid_there_is_not_left(tmp_path: Path) -> None:
    """What the file loads stands beside it, and nothing of that name beside the copy."""
    source = tmp_path / "here" / "a.yaml"
    source.parent.mkdir()
    source.write_text(f"{new.TEMPLATE.read_text()}extend: [./mine.py]\n")
    (source.parent / "mine.py").write_text("")
    with pytest.raises(UsageError, match="would not be valid") as raised:
        write_new("b", tmp_path / "there", source)
    assert raised.value.hint is not None
    assert str(source.parent) in raised.value.hint
    assert list((tmp_path / "there").iterdir()) == []


class TestTheLineForEditors:
    @pytest.mark.parametrize("file", SHIPPED, ids=lambda path: path.stem)
    def test_each_shipped_file_begins_with_it(self, file: Path) -> None:
        assert file.read_text().splitlines(keepends=True)[0] == modeline(file.parent)

    def test_outside_of_the_checkout_it_is_a_whole_path(self, tmp_path: Path) -> None:
        assert modeline(tmp_path) == f"# yaml-language-server: $schema={SCHEMA}\n"

    def test_of_an_installed_kit_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its package may be moved by no one, and a path from a project into it would be a guess."""
        package = tmp_path / "site-packages" / "devkit" / "scenario"
        package.mkdir(parents=True)
        schema = shutil.copy(SCHEMA, package)
        monkeypatch.setattr(new, "_HERE", package)
        monkeypatch.setattr(new, "SCHEMA", Path(schema))
        assert modeline(tmp_path / "site-packages" / "mine") == f"# yaml-language-server: $schema={schema}\n"


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
