"""The mock's feed of changed pages, as its control gives it at `/__mock/page-changes`."""

from typing import Literal

import requests
from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from devkit.errors import PartError
from devkit.loopback import loopback_session
from devkit.network_cause import network_cause

PATH = "/__mock/page-changes"
_ANSWER_S = 30.0


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class FeedUser(_Model):
    """`id` is 0 for a user without an account."""

    name: str
    id: int
    groups: tuple[str, ...]


class FeedPlace(_Model):
    """`title` is the full one, with underscores."""

    namespace_id: int
    title: str


class ChangedPage(FeedPlace):
    """The page after the change."""

    page_id: int
    content_model: str
    revision_count: int
    redirect: FeedPlace | None = None


class ChangedRevision(_Model):
    """`parent_id` is 0 for the first; `sha1` has 40 hex digits; `hidden` are the parts that readers do not see."""

    rev_id: int
    parent_id: int
    content_rev_id: int
    timestamp: AwareDatetime
    user: FeedUser
    comment: str
    minor: bool
    size: int
    sha1: str
    hidden: frozenset[Literal["text", "user", "comment"]] = frozenset()
    suppressed: bool = False


class PageChange(_Model):
    """`before` is the revision before an edit or a move, or the same one before a change of its visibility or a
    suppressed deletion.
    """

    kind: Literal["create", "edit", "move", "delete", "undelete", "visibility"]
    wiki: str
    domain: str
    at: AwareDatetime
    request_id: str
    page: ChangedPage
    revision: ChangedRevision
    performer: FeedUser
    reason: str | None = None
    before: ChangedRevision | None = None
    place_before: FeedPlace | None = None
    created_redirect: ChangedPage | None = None


class FeedEntry(_Model):
    """`n` counts changes from 1 in the feed; `epoch` counts the mock's worlds."""

    n: int
    epoch: int
    change: PageChange


class FeedPage(_Model):
    """`feed` names a process of the mock; `first` and `last` are the oldest and the newest `n` that it keeps."""

    feed: str
    epoch: int
    first: int
    last: int
    entries: tuple[FeedEntry, ...]


class MockFeed:
    """The feed of the mock at `endpoint`."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._session = loopback_session()

    def read(self, after: int, wait_s: float = 0) -> FeedPage:
        """Entries after `after`; waits up to `wait_s` seconds for one. Raises PartError when the mock gives none."""
        parameters: dict[str, str] = {"after": str(after), "wait": f"{wait_s:g}"}
        try:
            answer = self._session.get(self._endpoint + PATH, params=parameters, timeout=wait_s + _ANSWER_S)
            answer.raise_for_status()
            return FeedPage.model_validate_json(answer.content)
        except requests.RequestException as error:
            raise PartError(
                f"mock API gave no changes at {self._endpoint}{PATH}: {_cause(error)}", "mock-api"
            ) from error
        except ValidationError as error:
            raise PartError(f"mock API at {self._endpoint} is of another version: {error}", "mock-api") from error


def _cause(error: requests.RequestException) -> str:
    return str(error) if isinstance(error, requests.HTTPError) else network_cause(error)
