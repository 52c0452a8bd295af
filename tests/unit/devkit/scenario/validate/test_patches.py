from pathlib import Path

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
