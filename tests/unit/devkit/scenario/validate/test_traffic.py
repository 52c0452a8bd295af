from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.scenario.load import load_scenario

REPOSITORY = Path(__file__).parents[5]
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


CLOSING = "canaries: { closing: { after: 5m, partitions: %d } }"


@pytest.mark.parametrize(
    ("partitions", "of_main", "of_links", "message"),
    [
        (2, 2, 2, None),
        (1, 1, 1, None),
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


SOURCE_EVENTS = """  generator: wikibase_source
  wikis: { wikidatawiki: www.wikidata.org }
  event_times: { published: x1 }
"""


@pytest.mark.parametrize(
    ("canaries", "reorder", "message"),
    [
        ("canaries: { closing: { after: 6001ms } }", "6s", None),
        ("canaries: { every: 1s }", "0s", None),
        ("canaries: { every: 1s }", "6s", "wait for one that is more than updater.reorder (6s) later; write canaries"),
        ("canaries: { closing: { after: 6s } }", "6s", "traffic.canaries: the last events of arm incident wait for"),
    ],
)
def test_closing_canaries_let_the_last_events_of_the_updater_go(
    tmp_path: Path, canaries: str, reorder: str, message: str | None
) -> None:
    found = refused_by_decide(tmp_path, canaries, f"updater: {{ reorder: {reorder} }}")
    assert (message in found) if message else "updater.reorder (" not in found


def test_each_topic_of_a_wikibase_is_read(tmp_path: Path) -> None:
    topics = "[eqiad.mediawiki.revision-create, eqiad.mediawiki.page-delete, eqiad.mediawiki.page-undelete]"
    found = refused_by_decide(tmp_path, "", f"source: {{ topics: {topics} }}")
    assert "does not read topic 'eqiad.mediawiki.page-suppress'; let its source topics be eqiad.mediawiki." in found


def refused_by_decide(tmp_path: Path, canaries: str, setting: str) -> str:
    programs = f"programs:\n  decide: {{ run: pipeline rdf-decide, configuration: {{ {setting} }} }}\n"
    text = BASE.replace("  generator: page_change\n", f"{SOURCE_EVENTS}  {canaries}\n")
    file = tmp_path / "s.yaml"
    file.write_text(text.replace("until:", f"{programs}until:"))
    try:
        load_scenario(file)
    except InvalidFileError as error:
        return str(error)
    return ""


def test_a_dump_that_no_store_is_loaded_with(tmp_path: Path) -> None:
    shipped = (REPOSITORY / "scenarios" / "gap-after-bootstrap.yaml").read_text()
    file = tmp_path / "s.yaml"
    file.write_text(shipped.replace("  apply: { run: apply }\n", ""))
    with pytest.raises(InvalidFileError, match=r"traffic\.dump: there is no triple store in arm incident"):
        load_scenario(file)
