"""All mistakes of a file in one pass, of whatever kind they are."""

from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.scenario.load import load_scenario
from tests.unit.devkit.conftest import Edited


def refused(text: str, tmp_path: Path) -> list[str]:
    """What is wrong, in the order of the file, without its path."""
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with pytest.raises(InvalidFileError) as raised:
        load_scenario(path)
    return [line.removeprefix(f"{path}:").partition(": ")[2] for line in str(raised.value).splitlines()]


def test_six_mistakes_of_six_kinds_at_once(edited: Edited, tmp_path: Path) -> None:
    """A key of a section, a value, a part that there is none of, configuration of both arms and of one, a section."""
    text = edited(
        ("time_scale: 60", "time_scle: 60"),
        ("supervisor: { delay: 2s }", "supervisor: { delay: 2 sec }"),
        ("until:\n", "timeline: [{ name: still, do: { pause: { part: kafak } }, at: 2s }]\nuntil:\n"),
        ("batch: { max_offsets: 50 }", "batch: { max_offset: 50 }"),
        ("record_limit: { policy: serialized }", "record_limit: { policy: serialised }"),
        ("page: Huge }", "page: Hugh }"),
    )
    found = refused(text, tmp_path)
    assert [line.partition(": ")[0] for line in found] == [
        "time_scle",
        "mock.rules[0].when.page",
        "pipeline.batch.max_offset",
        "supervisor.delay",
        "timeline[0].do.pause.part",
        "arms.fixed.record_limit.policy",
    ]
    assert all("did you mean" in line or "write" in line for line in found), found


def test_what_proves_nothing_is_told_with_what_cannot_be_played(edited: Edited, tmp_path: Path) -> None:
    text = edited(("deadline: 90s", "deadline: 5s"), ("page: Huge }", "page: Hugh }"))
    assert [line.partition(": ")[0] for line in refused(text, tmp_path)] == [
        "mock.rules[0].when.page",
        "until.deadline",
    ]


@pytest.mark.parametrize(
    ("change", "also"),
    [
        (("for: 8s", "for: 8 sec"), []),
        (("arms:\n  incident:", "arms:\n  incidnt:"), []),
        (("rules:\n", "rules:\n    - { name: x }\n"), ["arms.fixed.record_limit.policy"]),
    ],
    ids=["traffic that rules speak of", "the arms themselves", "a rule without a fault"],
)
def test_what_depends_on_a_wrong_section_is_not_guessed_at(
    edited: Edited, tmp_path: Path, change: tuple[str, str], also: list[str]
) -> None:
    """A page that a broken `traffic` may well have is not told as missing."""
    text = edited(change, ("record_limit: { policy: serialized }", "record_limit: { policy: serialised }"))
    text = text.replace("page: Huge }", "page: Hugh }")
    places = [line.partition(": ")[0] for line in refused(text, tmp_path)]
    assert "mock.rules[0].when.page" not in places
    assert [place for place in places if place in also] == also


def test_a_file_without_most_sections_says_which(tmp_path: Path) -> None:
    found = refused("name: a\nkafka: { topics: { sourc: {} } }\n", tmp_path)
    assert "kafka.topics.sourc: unknown key; did you mean 'source'?" in found
    assert {line.partition(": ")[0] for line in found if "is missing" in line} == {
        "title",
        "incident",
        "traffic",
        "until",
        "arms",
        "expect",
    }
