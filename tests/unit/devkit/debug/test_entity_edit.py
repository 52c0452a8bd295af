"""Changes of entities of the real mock, and the events that the bus makes of them."""

from dataclasses import dataclass
from typing import cast

import orjson
import pytest

from devkit.debug.entity_edit import EntityEdit, make_entity_edit, parse_member
from devkit.debug.tail import TopicTail
from devkit.debug.wiki_client import WikiClient
from devkit.errors import UsageError
from devkit.event_bus.mock_feed import MockFeed
from devkit.event_bus.wikibase_record import wikibase_record
from devkit.stack.parts.mock_api import MockApi
from devkit.stack.topic_reader import TopicRecord
from devkit.stack.wikibase_pages import SEED, wikibase_pages
from tests.unit.devkit.debug.mock_server import ServedMock

Made = list[tuple[str, str, int]]


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
