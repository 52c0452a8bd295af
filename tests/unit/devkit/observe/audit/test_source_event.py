import orjson
import pytest

from devkit.observe.audit.source_event import SourceEvent
from devkit.traffic.manifest import ManifestEntry
from devkit.traffic.records import Expected, PageRef

FAILING = Expected(fate="error", reason="schema_violation")


def event(value: bytes, expected: Expected = FAILING) -> SourceEvent:
    return SourceEvent(ManifestEntry(topic="t", partition=0, offset=17, expected=expected), b"", value)


def test_is_called_by_its_page_and_its_id() -> None:
    page = PageRef(wiki="enwiki", page_id=3, title="Main_Page")
    named = Expected(fate="output", event_id="0b9e", page=page)
    assert event(b"", named).name == "page 'Main Page', event 0b9e, source t/0/17"


def test_what_the_manifest_does_not_say_is_read_from_its_bytes() -> None:
    value = orjson.dumps({"meta": {"id": "0b9e"}, "page": {"page_title": "Gone"}})
    assert event(value).name == "page 'Gone', event 0b9e, source t/0/17"


@pytest.mark.parametrize("value", [b"", b"\xff", b"[]", b"{}", b'{"meta": 7, "page": {"page_title": 7}}'])
def test_one_that_says_nothing_is_called_by_its_place(value: bytes) -> None:
    assert event(value).name == "source t/0/17"
