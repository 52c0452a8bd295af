"""Accounts, sessions and tokens: enough for clients to log in and write. A test aid, not a lock.

    session cookie ──> Session ──> User ──> groups ──> rights
                          └──> token(kind): what a write must show

One set of accounts serves all wikis. Ids of sessions and tokens follow from the seed and the order of requests, so who
knows the seed can forge them: nothing here guards anything. The administrator's name and password are public too.
"""

import hmac
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal

from mockapi.draws import digest
from mockapi.wiki.namespaces import STANDARD
from mockapi.wiki.people import is_address
from mockapi.wiki.title import InvalidTitle, parse_title

# As on a wiki that was just installed, but that administrators may hide revisions and see what is hidden.
EVERYBODY: Final = "*"
IMPLICIT: Final = (EVERYBODY, "user", "autoconfirmed")

RIGHTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        group: tuple(rights.split())
        for group, rights in {
            "*": "createaccount read edit createpage createtalk viewmyprivateinfo editmyprivateinfo editmyoptions",
            "user": "move move-subpages move-rootuserpages move-categorypages movefile read edit createpage createtalk "
            "upload reupload reupload-shared minoredit editmyusercss editmyuserjson editmyuserjs editmyuserjsredirect "
            "sendemail applychangetags changetags editcontentmodel viewmywatchlist editmywatchlist",
            "autoconfirmed": "autoconfirmed editsemiprotected",
            "bot": "bot autoconfirmed editsemiprotected nominornewtalk autopatrol suppressredirect apihighlimits",
            "sysop": "block createaccount delete bigdelete deletedhistory deletedtext undelete editinterface "
            "editsitejson edituserjson import importupload move move-subpages move-rootuserpages move-categorypages "
            "patrol autopatrol protect editprotected rollback upload reupload reupload-shared unwatchedpages "
            "autoconfirmed editsemiprotected ipblock-exempt blockemail markbotedits apihighlimits browsearchive "
            "noratelimit movefile unblockself suppressredirect mergehistory managechangetags deletechangetags "
            "deleterevision deletelogentry suppressrevision viewsuppressed",
            "interface-admin": "editinterface editsitecss editsitejson editsitejs editusercss edituserjson edituserjs",
            "bureaucrat": "userrights noratelimit renameuser",
            "suppress": "hideuser suppressrevision viewsuppressed suppressionlog deleterevision deletelogentry",
        }.items()
    }
)
GROUPS: Final = tuple(group for group in RIGHTS if group not in IMPLICIT)


@lru_cache(maxsize=1024)
def rights_of(groups: tuple[str, ...]) -> tuple[str, ...]:
    """What members of all `groups` together may do, each right once."""
    return tuple(dict.fromkeys(right for group in groups for right in RIGHTS.get(group, ())))


ROOT_NAME: Final = "Admin"
ROOT_PASSWORD: Final = "dockerpass"  # what the configuration of MediaWiki's own API tests comes with
ROOT_GROUPS: Final = ("bureaucrat", "interface-admin", "sysop")
ANONYMOUS_TOKEN: Final = "+\\"
MAX_SESSIONS: Final = 10_000

TokenKind = Literal["createaccount", "csrf", "login", "patrol", "rollback", "userrights", "watch"]
TOKEN_KINDS: Final[tuple[TokenKind, ...]] = (
    "createaccount", "csrf", "login", "patrol", "rollback", "userrights", "watch",
)  # fmt: skip
_BEFORE_LOGIN: Final = frozenset({"createaccount", "login"})
_ILLEGAL_IN_NAMES: Final = frozenset("@:>=/|#")


class AccountError(Exception):
    """`code` is MediaWiki's message key, `english` its text."""

    def __init__(self, code: str, english: str) -> None:
        super().__init__(english)
        self.code = code
        self.english = english


@dataclass(frozen=True, slots=True)
class User:
    """A user with an account; `groups` are those the user was put into."""

    id: int
    name: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """`id` is the value of the session cookie; `user_id` is None until its client logs in."""

    id: str
    user_id: int | None = None


class Accounts:
    """The accounts of one world. At most MAX_SESSIONS sessions live; the oldest end first."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._users: dict[int, User] = {}
        self._id_of_name: dict[str, int] = {}
        self._passwords: dict[int, bytes] = {}
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._sessions_begun = 0
        self.create(ROOT_NAME, ROOT_PASSWORD)
        self.add_groups(ROOT_NAME, ROOT_GROUPS)

    def create(self, name: str, password: str, *, retype: str | None = None) -> User:
        """A new account. Raises AccountError: `noname`, `userexists`, `badretype`, `passwordtooshort`."""
        proper = canonical_name(name)
        if proper in self._id_of_name:
            raise AccountError("userexists", "Username entered already in use.\nPlease choose a different name.")
        if retype is not None and retype != password:
            raise AccountError("badretype", "The passwords you entered do not match.")
        if not password:
            raise AccountError("passwordtooshort", "Passwords must be at least 1 character.")
        user = User(len(self._users) + 1, proper)
        self._users[user.id] = user
        self._id_of_name[proper] = user.id
        self._passwords[user.id] = self._scrambled(user.id, password)
        return user

    @property
    def users(self) -> tuple[User, ...]:
        """All accounts, the oldest first."""
        return tuple(self._users.values())

    def user(self, name: str) -> User | None:
        """The account of that name, in any spelling of it."""
        try:
            user_id = self._id_of_name.get(canonical_name(name))
        except AccountError:
            return None
        return None if user_id is None else self._users[user_id]

    def user_of(self, session: Session | None) -> User | None:
        """Who is logged in; None for a visitor without an account."""
        return None if session is None or session.user_id is None else self._users[session.user_id]

    def begin(self) -> Session:
        """A session for a client that has none, or whose cookie is no longer known."""
        self._sessions_begun += 1
        session = Session(digest(self._seed, "session", self._sessions_begun).hex())
        return self._keep(session)

    def session(self, cookie: str | None) -> Session | None:
        """The session that a cookie value names, unless it has ended."""
        return None if cookie is None else self._sessions.get(cookie)

    def login(self, session: Session | None, name: str, password: str) -> Session:
        """Ends `session` and begins one for the user. Raises AccountError `wrongpassword`."""
        user = self.user(name)
        if user is None or not hmac.compare_digest(self._passwords[user.id], self._scrambled(user.id, password)):
            raise AccountError("wrongpassword", "Incorrect username or password entered. Please try again.")
        self.logout(session)
        fresh = self.begin()
        return self._keep(replace(fresh, user_id=user.id))

    def logout(self, session: Session | None) -> None:
        """Does nothing for None, a client without a session."""
        if session is not None:
            self._sessions.pop(session.id, None)

    def token(self, kind: TokenKind, session: Session | None, *about: str) -> str:
        """What a write must show. Tokens for logging in need a session; the others are public without an account. A
        token of the forms is for what it is `about` alone.
        """
        if session is None or (session.user_id is None and kind not in _BEFORE_LOGIN):
            return ANONYMOUS_TOKEN
        return digest(self._seed, "token", session.id, session.user_id, kind, *about, size=20).hex() + ANONYMOUS_TOKEN

    def accepts(self, kind: TokenKind, session: Session | None, token: str, *about: str) -> bool:
        """Whether `token` is the session's; without a session no token for logging in is."""
        if session is None and kind in _BEFORE_LOGIN:
            return False
        return hmac.compare_digest(self.token(kind, session, *about).encode(), token.encode(errors="surrogatepass"))

    def groups_of(self, user: User | None) -> tuple[str, ...]:
        """All groups of a user, the implicit ones last; those of everybody for None."""
        return (EVERYBODY,) if user is None else (*user.groups, *IMPLICIT)

    def rights_of(self, user: User | None) -> tuple[str, ...]:
        """What a user may do; for None what everybody may."""
        return rights_of(self.groups_of(user))

    def may(self, user: User | None, right: str) -> bool:
        """Whether a user, or everybody for None, has `right`."""
        return right in self.rights_of(user)

    def add_groups(self, name: str, groups: Iterable[str]) -> tuple[User, tuple[str, ...]]:
        """The user in those groups too, and which of them are new; groups that do not exist are passed over.

        Raises AccountError `nosuchuser`.
        """
        user = self.user(name)
        if user is None:
            raise AccountError("nosuchuser", f'There is no user by the name "{name}".\nCheck your spelling.')
        added = tuple(group for group in dict.fromkeys(groups) if group in GROUPS and group not in user.groups)
        changed = replace(user, groups=tuple(sorted((*user.groups, *added))))
        self._users[user.id] = changed
        return changed, added

    def _keep(self, session: Session) -> Session:
        self._sessions[session.id] = session
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return session

    def _scrambled(self, user_id: int, password: str) -> bytes:
        return digest(self._seed, "password", user_id, password.encode(errors="surrogatepass").hex())


def canonical_name(name: str) -> str:
    """The name as MediaWiki writes it: spaces, a capital first. Raises AccountError `noname`."""
    try:
        title = parse_title(f"User:{name}", STANDARD)
    except InvalidTitle:
        title = None
    if title is None or "#" in name or is_address(title.key) or _ILLEGAL_IN_NAMES & set(title.key):
        raise AccountError("noname", "You have not specified a valid username.")
    return title.key.replace("_", " ")
