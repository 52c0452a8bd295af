from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.scenario.load import load_scenario

BASE = (Path(__file__).parents[1] / "incident.yaml").read_text()
LINKS = "rate: 1/s, for: 1s, topic: links.v1, pages: { Tiny: {} }"
TWO_TOPICS = "  batch: { max_offsets: 50 }\n  source: { topics: [mediawiki.page_change.v1, links.v1] }"


def problems(tmp_path: Path, patch: str, of_stream: str = "") -> list[str]:
    """What is wrong, without the file and the line."""
    streams = f"  streams: {{ links: {{ {LINKS}, patch: [{of_stream}] }} }}\n"
    text = BASE.replace("  generator: page_change\n", f"  patch: [{patch}]\n{streams}")
    file = tmp_path / "s.yaml"
    file.write_text(text.replace("  batch: { max_offsets: 50 }", TWO_TOPICS))
    try:
        load_scenario(file)
    except InvalidFileError as error:
        return [problem.text for problem in error.problems]
    return []


def test_what_fits_every_event(tmp_path: Path) -> None:
    fit = "{ page: Huge, set: { performer.user_text: x } }"
    assert problems(tmp_path, fit, fit.replace("Huge", "Tiny")) == []
    assert problems(tmp_path, "{ page: Huge, set: { performer.user_text: 5 }, error: schema_violation }") == []


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        ("set: { performer.user_txt: x }", "an edit of page Huge has no field performer.user_txt; there are "),
        (
            "set: { performer.user_text: 5 }",
            "performer.user_text is text in the event, and 5 is a whole number; write a value of that type",
        ),
        ("set: { performer.user_id: -5 }", "an edit of page Huge does not fit its schema: performer.user_id: -5 is"),
    ],
)
def test_what_does_not_is_said_with_its_place(tmp_path: Path, patch: str, problem: str) -> None:
    (found,) = problems(tmp_path, f"{{ page: Huge, {patch} }}")
    assert found.startswith(f"traffic.patch[0]: {problem}")


def test_all_are_said_at_once(tmp_path: Path) -> None:
    wrong, right = "{ page: Huge, set: { zzz: x } }", "{ page: Huge, set: { performer.user_text: x } }"
    found = problems(tmp_path, f"{wrong}, {right}, {wrong}", wrong.replace("Huge", "Tiny"))
    places = [text.partition(":")[0] for text in found]
    assert places == ["traffic.patch[0]", "traffic.patch[2]", "traffic.streams.links.patch[0]"]
