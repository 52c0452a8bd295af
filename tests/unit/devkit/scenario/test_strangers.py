"""What one part of a scenario file says of another is checked before anything starts."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.scenario.load import load_scenario

BASE = (Path(__file__).parent / "incident.yaml").read_text()
Refused = Callable[[str, str], str]


@pytest.fixture
def refused(tmp_path: Path) -> Refused:
    def load(old: str, new: str) -> str:
        assert old in BASE
        file = tmp_path / "s.yaml"
        file.write_text(BASE.replace(old, new))
        with pytest.raises(InvalidFileError) as caught:
            load_scenario(file)
        return str(caught.value).removeprefix(str(file))

    return load


def test_a_rule_for_a_page_that_is_not_in_the_traffic(refused: Refused) -> None:
    assert "mock.rules[0].when.page: there is no page 'huge' in traffic.pages; did you mean 'Huge'?" in refused(
        "page: Huge", "page: huge"
    )


def test_a_rule_for_a_page_where_the_traffic_names_none(refused: Refused) -> None:
    pages = "  pages:\n    Huge: { edits: 1, event_bytes: 40KiB, at: [0.4] }\n"
    assert "there is no page 'Huge' in traffic.pages; write `pages: { Huge: {} }` there" in refused(pages, "")


def test_a_rule_for_a_wiki_that_is_not_in_the_traffic(refused: Refused) -> None:
    text = refused("page: Huge", "wiki: dewiki")
    assert "mock.rules[0].when.wiki: there is no wiki 'dewiki' in traffic.wikis; did you mean 'enwiki'?" in text


@pytest.mark.parametrize("name", ["latest", "stack"])
def test_a_name_that_the_directory_of_runs_needs(refused: Refused, name: str) -> None:
    line = next(line for line in BASE.splitlines() if line.startswith("name:"))
    assert f"name: '{name}' is the name of something else" in refused(line, f"name: {name}")


@pytest.mark.parametrize("window", ["", ", window: { from: 3s }"])
def test_a_success_rate_after_a_fault_that_never_ends(tmp_path: Path, window: str) -> None:
    text = BASE.replace("restarts: { at_least: 2 }", "success_rate: { of: after fault, at_most: 40% }")
    text = text.replace("page: Huge }", f"page: Huge{window} }}")
    file = tmp_path / "s.yaml"
    file.write_text(text)
    with pytest.raises(InvalidFileError) as caught:
        load_scenario(file)
    assert str(caught.value).endswith(
        ":38:23: expect.incident[0].success_rate.of: no fault ends: give a rule of mock.rules a window with `for`, or "
        "measure `all`"
    )


def test_a_success_rate_after_a_fault_that_ends(tmp_path: Path) -> None:
    text = BASE.replace("restarts: { at_least: 2 }", "success_rate: { of: after fault, at_most: 40% }")
    file = tmp_path / "s.yaml"
    file.write_text(text.replace("page: Huge }", "page: Huge, window: { from: 3s, for: 4s } }"))
    assert load_scenario(file).mock.fault_over == timedelta(seconds=7)


def test_an_event_that_the_source_topic_will_not_take(refused: Refused) -> None:
    text = refused("event_bytes: 40KiB", "event_bytes: 8MiB")
    assert "is more than the source topic takes (8388608); raise kafka.topics.source.max.message.bytes" in text
