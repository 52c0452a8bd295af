"""Makes the pages of `pages.yaml` in a wiki, through its ordinary write API, and keeps what the wiki answered.

The same on both sides. What the API of one side does not know fails there, in the words of its answer, and what would
have come of it is missing on that side alone.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from tests.conformance.ids import Ids
from tests.conformance.wire import Answer, Client

PAGES: Final = Path(__file__).parent / "pages.yaml"
USER_PASSWORD: Final = "conformance-user-1"
_UNTIL_NEXT_SECOND_S: Final = 0.01


@dataclass(frozen=True)
class Account:
    """A user of the wiki under test."""

    name: str
    password: str


ADMIN: Final = Account("Admin", "dockerpass")
"""Whom the mock has from the start, and whom the installer of the real wiki is told to make."""


@dataclass(frozen=True)
class Write:
    """One call of the write API; `about` labels the revisions that the answer may speak of."""

    name: str
    about: tuple[str, ...]
    answer: Answer


@dataclass
class Wiki:
    """One side: where it is, the numbers of its pages, the sessions of its users."""

    port: int
    domain: str
    ids: Ids = field(default_factory=Ids)
    sessions: dict[str, Client] = field(default_factory=dict)

    def session(self, user: str | None) -> Client:
        """The session of a user who has logged in, the administrator's for None; `anonymous` has none."""
        name = user or ADMIN.name
        return Client(self.port, self.domain) if name == "anonymous" else self.sessions[name]

    def token(self, user: str | None, kind: str = "csrf") -> str:
        """A token of that kind. Raises ValueError when the wiki gives none."""
        found = self.session(user).api(action="query", meta="tokens", type=kind)
        try:
            token: str = found["query"]["tokens"][f"{kind}token"]
        except (KeyError, TypeError):
            raise ValueError(f"no {kind} token: {found}") from None
        return token


def make_pages(wiki: Wiki, *, next_second: Callable[[], None] | None = None) -> list[Write]:
    """Logs in, makes accounts and pages; returns the calls in their order."""
    data = yaml.safe_load(PAGES.read_text(encoding="utf-8"))
    writes = [_log_in(wiki, ADMIN)]
    for name in data["accounts"]:
        account = Account(name, USER_PASSWORD)
        writes += [_create_account(wiki, account), _log_in(wiki, account)]
    for number, actions in enumerate(data["rounds"]):
        if number:
            (next_second or _await_next_second)()
        writes += [_ACTIONS[next(iter(action))](wiki, action) for action in actions]
    return writes


def _await_next_second() -> None:
    second = int(time.time())
    while int(time.time()) == second:
        time.sleep(_UNTIL_NEXT_SECOND_S)


def _call(wiki: Wiki, user: str | None, **fields: str) -> Answer:
    sent = {"format": "json", "formatversion": "2", **fields}
    return wiki.session(user).call(sent, post=True)


def _log_in(wiki: Wiki, account: Account) -> Write:
    wiki.sessions[account.name] = Client(wiki.port, wiki.domain)
    answer = _call(
        wiki,
        account.name,
        action="login",
        lgname=account.name,
        lgpassword=account.password,
        lgtoken=wiki.token(account.name, "login"),
    )
    return Write(f"login {'administrator' if account == ADMIN else account.name}", (), answer)


def _create_account(wiki: Wiki, account: Account) -> Write:
    answer = _call(
        wiki,
        None,
        action="createaccount",
        username=account.name,
        password=account.password,
        retype=account.password,
        createreturnurl="https://example.org/",
        createtoken=wiki.token(None, "createaccount"),
    )
    return Write(f"createaccount {account.name}", (), answer)


def _edit(wiki: Wiki, action: Mapping[str, Any]) -> Write:
    title, user, text = action["edit"], action.get("as"), action["text"]
    if "repeat" in action:
        text = (text * (action["repeat"] // len(text) + 1))[: action["repeat"]].strip()
    fields = {"title": title, "text": text, "summary": action["summary"], "token": wiki.token(user)}
    if action.get("minor"):
        fields["minor"] = "1"
    answer = _call(wiki, user, action="edit", **fields)
    made = _member(answer, "edit")
    if "newrevid" not in made:
        return Write(f"edit {title} ({action['summary']})", (f"{title}:1",), answer)
    label = wiki.ids.add_revision(title, made["newrevid"], made["pageid"], made["newtimestamp"])
    return Write(f"edit {label}", (label,), answer)


def _move(wiki: Wiki, action: Mapping[str, Any]) -> Write:
    old, new = action["move"], action["to"]
    answer = _call(
        wiki, None, action="move", **{"from": old, "to": new}, reason=action["reason"], token=wiki.token(None)
    )
    if _member(answer, "move"):
        for title in (old, new):
            _learn(wiki, title)
    return Write(f"move {old}", (), answer)


def _delete(wiki: Wiki, action: Mapping[str, Any]) -> Write:
    title = action["delete"]
    answer = _call(wiki, None, action="delete", title=title, reason=action["reason"], token=wiki.token(None))
    return Write(f"delete {title}", (), answer)


def _hide(wiki: Wiki, action: Mapping[str, Any]) -> Write:
    label = action["hide"]
    answer = _call(
        wiki,
        None,
        action="revisiondelete",
        type="revision",
        target=label.rpartition(":")[0],
        ids=str(wiki.ids.revisions.get(label, 0)),
        hide="|".join(action["parts"]),
        suppress="yes" if action.get("suppress") else "no",
        token=wiki.token(None),
    )
    return Write(f"hide {label}", (label,), answer)


def _learn(wiki: Wiki, title: str) -> None:
    """Remembers the last revision of a page that no edit of ours has told of."""
    found = wiki.session(None).api(action="query", prop="revisions", titles=title, rvprop="ids|timestamp")
    (page,) = found["query"]["pages"]
    if "revisions" in page:
        (last,) = page["revisions"]
        wiki.ids.add_revision(title, last["revid"], page["pageid"], last["timestamp"])


def _member(answer: Answer, name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = answer.json.get(name, {})
    return found


_ACTIONS: Final[Mapping[str, Callable[[Wiki, Mapping[str, Any]], Write]]] = {
    "edit": _edit,
    "move": _move,
    "delete": _delete,
    "hide": _hide,
}
