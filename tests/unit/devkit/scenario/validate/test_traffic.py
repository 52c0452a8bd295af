from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.scenario.load import load_scenario

BASE = (Path(__file__).parents[1] / "incident.yaml").read_text()
TWO_TOPICS = "  batch: { max_offsets: 50 }\n  source: { topics: [mediawiki.page_change.v1, links.v1] }"


def refused(tmp_path: Path, stream: str, more: str = "", partitions: int = 1) -> str:
    text = BASE.replace(
        "  generator: page_change", f"  streams: {{ links: {{ rate: 1/s, for: 1s, {stream} }} }}\n{more}"
    )
    text = text.replace("    source: {", f"    source: {{ partitions: {partitions},")
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


CLOSING = "canaries: { closing: { after: 5m, partitions: %d } }"


@pytest.mark.parametrize(
    ("partitions", "of_main", "of_links", "message"),
    [
        (2, 2, 2, None),
        (1, 1, 1, None),
        (2, 2, 1, "streams.links.canaries.closing.partitions: closing canaries for 1 partition, and the topic has 2"),
        (2, 3, 2, "traffic.canaries.closing.partitions: closing canaries for 3 partitions, and the topic has 2 in arm"),
    ],
)
def test_closing_canaries_are_for_each_partition_that_there_is(
    tmp_path: Path, partitions: int, of_main: int, of_links: int, message: str | None
) -> None:
    streams = f"topic: links.v1, {CLOSING % of_links}"
    found = refused(tmp_path, streams, f"  event_times: {{ published: x1 }}\n  {CLOSING % of_main}", partitions)
    assert message in found if message else not found


def test_streams_that_share_a_topic_close_it_together(tmp_path: Path) -> None:
    more = f"  event_times: {{ published: x1 }}\n  {CLOSING % 2}"
    assert refused(tmp_path, f"topic: mediawiki.page_change.v1, {CLOSING % 1}", more, 2) == ""
