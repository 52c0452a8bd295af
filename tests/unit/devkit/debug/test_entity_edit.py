"""Changes of pages and entities, and the events that the bus makes of them."""

from dataclasses import dataclass
from typing import cast

import orjson
import pytest

from devkit.debug.entity_edit import EntityEdit, make_entity_edit, parse_member
from devkit.debug.page_edit import PageEdit, WikiChange
from devkit.debug.tail import TopicTail
from devkit.debug.wiki_client import WikiClient, WikiPage
from devkit.errors import UsageError
from devkit.event_bus.mock_feed import MockFeed
from devkit.event_bus.wikibase_record import wikibase_record
from devkit.stack.parts.mock_api import MockApi
from devkit.stack.topic_reader import TopicRecord
from devkit.stack.wikibase_pages import SEED, wikibase_pages
from tests.unit.devkit.debug.mock_server import ServedMock

Made = list[tuple[str, str, int]]
PAGE = WikiPage("enwiki", "Quay", 2, 8193)


@dataclass
class TailOfBus:
    """The topics that a bus would fill."""

    feed: MockFeed
    n: int = 0

    def last(self, _count: int) -> list[TopicRecord]:
        return []

    def new_records(self) -> list[TopicRecord]:
        page = self.feed.read(self.n)
        self.n = page.last
        records = [wikibase_record(page.feed, entry) for entry in page.entries]
        return [
            TopicRecord(record.topic, 0, 0, 0, record.key, record.value) for record in records if record is not None
        ]


@pytest.fixture
def client(served: ServedMock) -> WikiClient:
    MockApi(served.endpoint).populate(seed=SEED, catalog=wikibase_pages(), rules=())
    return WikiClient(served.endpoint)


@pytest.fixture
def tail(served: ServedMock) -> TopicTail:
    return cast(TopicTail, TailOfBus(MockFeed(served.endpoint)))


def rev(page_id: int, number: int) -> int:
    return page_id * 4096 + number


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([EntityEdit("Q42", label=("en", "Tea"))], [("revision-create", "Q42", rev(42, 2))]),
        ([EntityEdit("P31", label=("en", "instance of"))], [("revision-create", "P31", rev(131, 2))]),
        ([EntityEdit("Q42", redirect_to="Q5")], [("revision-create", "Q42", rev(42, 2))]),
        (
            [EntityEdit("Q42", sitelink=("enwiki", "Tea")), EntityEdit("Q42", merge_into="Q5")],
            [
                ("revision-create", "Q42", rev(42, 2)),
                ("revision-create", "Q5", rev(5, 2)),
                ("revision-create", "Q42", rev(42, 3)),
            ],
        ),
        (
            [EntityEdit("Q42", delete=True), EntityEdit("Q42", undelete=True)],
            [("page-delete", "Q42", rev(42, 1)), ("page-undelete", "Q42", rev(42, 1))],
        ),
        ([EntityEdit("Q42", delete=True, suppress=True)], [("page-suppress", "Q42", rev(42, 1))]),
    ],
)
def test_each_change_is_an_event(client: WikiClient, tail: TopicTail, edits: list[EntityEdit], expected: Made) -> None:
    made = [one for edit in edits for one in make_entity_edit(edit, client, tail, lambda: "")]
    assert [(one.stream, one.entity, one.rev) for one in made] == expected
    for one in made:
        assert orjson.loads(one.record.value or b"")["rev_id"] == one.rev


@pytest.mark.parametrize(
    ("edits", "problem"),
    [
        ([EntityEdit("Q4200", label=("en", "Tea"))], "there is no entity Q4200 now"),
        ([EntityEdit("Q42", merge_into="Q4200")], "there is no entity Q4200 now"),
        ([EntityEdit("Main Page", label=("en", "Tea"))], 'Could not find an entity with the ID "Main Page"'),
        ([EntityEdit("Q7", delete=True), EntityEdit("Q7", label=("en", "Tea"))], "there is no entity Q7 now"),
        ([EntityEdit("Q42", label=("en", "Tea"))] * 2, "Q42 has this already, so nothing changed"),
        ([EntityEdit("Q42", undelete=True)], "Q42 is not deleted"),
        ([EntityEdit("Q42", redirect_to="Q5"), EntityEdit("Q42", label=("en", "Tea"))], "Q42 is a redirect to Q5"),
    ],
)
def test_what_the_wiki_does_not_do_is_refused(
    client: WikiClient, tail: TopicTail, edits: list[EntityEdit], problem: str
) -> None:
    for edit in edits[:-1]:
        make_entity_edit(edit, client, tail, lambda: "")
    with pytest.raises(UsageError, match=problem):
        make_entity_edit(edits[-1], client, tail, lambda: "")


@pytest.mark.parametrize(("written", "parsed"), [("en=a=b", ("en", "a=b")), ("en=", ("en", "")), (None, None)])
def test_a_member_is_a_key_and_a_text(written: str | None, parsed: tuple[str, str] | None) -> None:
    assert parse_member("--label", written) == parsed


@pytest.mark.parametrize("written", ["", "en", "=Tea"])
def test_a_member_without_a_key_is_refused(written: str) -> None:
    with pytest.raises(UsageError, match="--label"):
        parse_member("--label", written)


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
