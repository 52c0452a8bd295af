"""What can be asked of `devkit edit`, and which record is the event of a change."""

import orjson
import pytest

from devkit.debug.page_edit import PageEdit, WikiChange
from devkit.debug.wiki_client import WikiPage
from devkit.errors import UsageError
from devkit.stack.topic_reader import TopicRecord

PAGE = WikiPage("enwiki", "Quay", 2, 8193)


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (PageEdit("A", delete=True, move_to="B"), "--move and --delete are several changes"),
        (PageEdit("A", undelete=True, text=""), "--undelete and --text are several changes"),
        (PageEdit("A", hide=True, size_bytes=1), "--hide and --bytes are several changes"),
        (PageEdit("A", delete=True, hide=True, suppress=True), "--delete and --hide are several changes"),
        (PageEdit("A", move_to="B", suppress=True), "--move and --hide are several changes"),
        (PageEdit("A", size_bytes=1024**3 + 1), "--bytes 1,073,741,825 bytes: the mock makes HTML of at most 1 GiB"),
    ],
)
def test_what_no_wiki_can_do_is_refused(edit: PageEdit, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        edit.check()
    assert str(caught.value) == problem
    assert caught.value.hint


@pytest.mark.parametrize(
    "edit",
    [
        PageEdit("A"),
        PageEdit("A", text="x", size_bytes=1024**3, create=True),
        PageEdit("A", hide=True, suppress=True),
        PageEdit("A", delete=True, suppress=True),
    ],
)
def test_what_belongs_together_is_not_refused(edit: PageEdit) -> None:
    edit.check()


def event(wiki: str = "enwiki", kind: str = "edit", rev_id: int = 8193) -> dict[str, object]:
    return {"wiki_id": wiki, "page_change_kind": kind, "page": {"page_id": 2}, "revision": {"rev_id": rev_id}}


@pytest.mark.parametrize(
    ("value", "is_event"),
    [
        (event(), True),
        (event(rev_id=1), False),
        (event(wiki="dewiki"), False),
        (event(kind="move"), False),
        ({"page": "text"}, False),
        (["no object"], False),
    ],
)
def test_an_event_is_found_by_page_kind_and_revision(value: object, is_event: bool) -> None:
    record = TopicRecord("t", 0, 0, 0, b"", orjson.dumps(value))
    assert WikiChange("edit", PAGE, 8193).is_in(record) == is_event
