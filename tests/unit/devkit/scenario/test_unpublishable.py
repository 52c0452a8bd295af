from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.scenario.load import load_scenario

BASE = (Path(__file__).parent / "incident.yaml").read_text()
TWO_TOPICS = "  batch: { max_offsets: 50 }\n  source: { topics: [mediawiki.page_change.v1, links.v1] }"


def refused(tmp_path: Path, stream: str) -> str:
    text = BASE.replace("  generator: page_change", f"  streams: {{ links: {{ rate: 1/s, for: 1s, {stream} }} }}")
    file = tmp_path / "s.yaml"
    file.write_text(text.replace("  batch: { max_offsets: 50 }", TWO_TOPICS))
    try:
        load_scenario(file)
    except InvalidFileError as error:
        return str(error)
    return ""


def test_a_stream_for_a_source_topic(tmp_path: Path) -> None:
    assert refused(tmp_path, "topic: links.v1") == ""


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (
            "topic: link.v1",
            "traffic.streams.links.topic: the main program of arm incident does not read topic 'link.v1'; "
            "did you mean 'links.v1'?",
        ),
        (
            "topic: links.v1, pages: { Big: { event_bytes: 9MiB } }",
            "traffic.streams.links.pages.Big.event_bytes: an event of 9437184 bytes is more than the source topic",
        ),
    ],
)
def test_refused(tmp_path: Path, stream: str, message: str) -> None:
    assert message in refused(tmp_path, stream)
