"""One request to the Action API while it is played: who asks, what is asked, and the answer as far as it has come."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from mockapi.api.action.errors import ApiError, invalid_title
from mockapi.api.action.form import Form
from mockapi.api.action.result import ApiResult
from mockapi.plan import Plan
from mockapi.rules.matching import Target
from mockapi.server.request import Request
from mockapi.wiki.accounts import Accounts, Session, User
from mockapi.wiki.edits.overlay import Overlay
from mockapi.wiki.edits.results import WriteError
from mockapi.wiki.people import Author
from mockapi.wiki.title import InvalidTitle, Title
from mockapi.wiki.wiki import Wiki

if TYPE_CHECKING:
    from mockapi.world import World

CacheMode = Literal["public", "private"]


@dataclass
class Call:
    """`session` is None for a client without a cookie that is known here; `used` are the names of parameters that some
    module knows. `cookies` go out with the answer, name and value; an empty value deletes one. `cache` says for whom
    caches may keep the answer, `wrote` that something was saved. An `untrusted` client is not asked who it is.
    """

    world: "World"
    wiki: Wiki
    request: Request
    request_id: str
    form: Form
    plan: Plan
    plan_of: Callable[[Target], Plan]
    untrusted: bool
    session: Session | None
    result: ApiResult = field(default_factory=ApiResult)
    used: set[str] = field(default_factory=set)
    cookies: dict[str, str] = field(default_factory=dict)
    wrote: bool = False
    cache: CacheMode = "private"

    @property
    def accounts(self) -> Accounts:
        """Those of this wiki in this world; another world has its own."""
        return self.world.accounts(self.wiki)

    @property
    def user(self) -> User | None:
        """The user who asks; None without an account."""
        return None if self.session is None else self.accounts.user_of(self.session)

    @property
    def author(self) -> Author:
        """Whose a write of this request is: the user's, or the client's address."""
        user = self.user
        return Author(self.request.client or "127.0.0.1", 0) if user is None else Author(user.name, user.id)

    @property
    def overlay(self) -> Overlay:
        """For writes of this request to its wiki."""
        return self.world.overlay(self.wiki, self.request_id)

    @property
    def now(self) -> datetime:
        """The time of day by the world's clock, with its zone."""
        return self.world.now()

    @property
    def high_limits(self) -> bool:
        """Whether who asks may ask for more at once."""
        return self.may("apihighlimits")

    def may(self, right: str) -> bool:
        """Whether the user who asks has the right; one without an account has those of everybody."""
        return self.accounts.may(self.user, right)

    def cookie(self, name: str) -> str:
        """The cookie's full name, which begins with the wiki's."""
        return f"{self.wiki.name}{name}"

    def keep_session(self) -> Session:
        """The client's session, begun now if it has none."""
        if self.session is None:
            self.session = self.accounts.begin()
            self.cookies[self.cookie("_session")] = self.session.id
        return self.session

    def title(self, text: str) -> Title:
        """The title that `text` means. Raises ApiError."""
        try:
            return self.wiki.title(text)
        except InvalidTitle:
            raise invalid_title(text) from None


def refused(error: WriteError) -> ApiError:
    """A write that the wiki refuses, as an error of the API."""
    return ApiError(error.code, one_line(error.english))


def one_line(english: str) -> str:
    """A message of several lines, as the API says it."""
    return english.replace("\n", " ")


def lag_seconds(lag: timedelta | None) -> int | float:
    """The lag as MediaWiki says it: -1 for a server without replicas."""
    if lag is None:
        return -1
    value = lag.total_seconds()
    return int(value) if value.is_integer() else value
