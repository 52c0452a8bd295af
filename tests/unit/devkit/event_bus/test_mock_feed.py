"""The bus reads all that the mock's feed says: both rooms describe it, as neither imports the other."""

from dataclasses import fields
from typing import Any

import pytest
from pydantic import BaseModel

from devkit.event_bus import mock_feed
from mockapi.journal import page_feed
from mockapi.wiki.edits import page_change


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (mock_feed.FeedPage, page_feed.FeedPage),
        (mock_feed.FeedEntry, page_feed.FeedEntry),
        (mock_feed.PageChange, page_change.PageChange),
        (mock_feed.ChangedPage, page_change.ChangePage),
        (mock_feed.ChangedRevision, page_change.ChangeRevision),
        (mock_feed.FeedPlace, page_change.ChangePlace),
        (mock_feed.FeedUser, page_change.ChangeUser),
    ],
)
def test_both_have_the_same_fields(read: type[BaseModel], said: Any) -> None:
    assert set(read.model_fields) == {field.name for field in fields(said)}
