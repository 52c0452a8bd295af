"""A client of the mock's Action API that writes as any client does: it logs in, takes a token and posts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any, Final

import requests

from devkit.errors import PartError, UsageError
from devkit.loopback import loopback_session
from devkit.network_cause import network_cause

USER: Final = "Admin"
PASSWORD: Final = "dockerpass"
"""The administrator of a mock; public, as the mock guards nothing."""

_API: Final = "/w/api.php"
_INDEX: Final = "/w/index.php"
_TOKEN: Final = re.compile(r'name="wpEditToken" value="([^"]*)"')
_DELETED: Final = "<h1>Action complete</h1>"
_ANSWER_S: Final = 60.0
_SHOWN_PAGES: Final = 3
_HINTS: Final[Mapping[str, str]] = {
    "contenttoobig": "a page's source is limited; `--bytes SIZE` gives its HTML any size",
    "articleexists": "move it to a title that is free, or delete the page that is there",
    "cantundelete": "only a page that was deleted by its title can be restored, and no other may have the title",
    "undeleterevdel": "a page that was deleted with --suppress stays deleted",
    "mock-page-full": "edit another page",
    "unresolved-redirect": "edit the entity that it redirects to",
}


@dataclass(frozen=True, slots=True)
class WikiPage:
    """A page as the wiki has it: `title` in its usual form, `rev_id` the current revision; both ids 0 for no page."""

    wiki: str
    title: str
    page_id: int
    rev_id: int

    @property
    def is_missing(self) -> bool:
        """Whether there is no such page now."""
        return self.page_id == 0


class WikiClient:
    """Raises UsageError for what the wiki refuses, PartError where it does not answer.

    `domain` names one of several wikis. Without it the mock's only wiki is meant.
    """

    def __init__(self, endpoint: str, domain: str | None = None) -> None:
        self._endpoint, self._domain = endpoint, domain
        self._session = loopback_session()
        if domain is not None:
            self._session.headers["Host"] = domain

    def page(self, title: str) -> WikiPage:
        """The page of that title, as readers see it."""
        answer = self._ask("GET", action="query", titles=title, prop="info", meta="siteinfo", siprop="general")
        (page,) = answer["query"]["pages"]
        wiki = str(answer["query"]["general"]["wikiid"])
        if page.get("invalid") or page.get("special"):
            raise UsageError(f"no page can be called {title!r}", hint=page.get("invalidreason", "give a page's title"))
        return WikiPage(wiki, page["title"], page.get("pageid", 0), page.get("lastrevid", 0))

    def require_page(self, title: str, hint: str = "") -> WikiPage:
        """The same for a page that is there. Raises UsageError, which names some that are."""
        page = self.page(title)
        if page.is_missing:
            titles = ", ".join(repr(known) for known in self._some_titles())
            hints = [hint, f"some of the pages there are: {titles}" if titles else ""]
            raise UsageError(f"there is no page {title!r} on {page.wiki}", hint="; ".join(filter(None, hints)))
        return page

    def write_entity(self, action: str, **parameters: str) -> None:
        """A write to an entity by one of Wikibase's actions; call `log_in` before it."""
        token = self._ask("GET", action="query", meta="tokens")["query"]["tokens"]["csrftoken"]
        self._ask("POST", action=action, token=token, **parameters)

    def log_in(self) -> None:
        """As the administrator, who may do everything."""
        token = self._ask("GET", action="query", meta="tokens", type="login")["query"]["tokens"]["logintoken"]
        answer = self._ask("POST", action="login", lgname=USER, lgpassword=PASSWORD, lgtoken=token)["login"]
        if answer["result"] != "Success":
            raise UsageError(f"the wiki does not let {USER} log in: {answer.get('reason', answer['result'])}")

    def write(self, action: str, **parameters: str) -> dict[str, Any]:
        """What the wiki answers to a write with these parameters; call `log_in` before it."""
        token = self._ask("GET", action="query", meta="tokens")["query"]["tokens"]["csrftoken"]
        answer: dict[str, Any] = self._ask("POST", action=action, token=token, **parameters)[action]
        return answer

    def delete_suppressed(self, title: str, reason: str) -> None:
        """Delete the page and hide its revisions from administrators too; call `log_in` before it. The Action API has
        no parameter for that, so this sends the form that people fill in.
        """
        about = {"title": title, "action": "delete"}
        form = self._request("GET", _INDEX, about)
        token = _TOKEN.search(form.text)
        if token is None:
            raise _unexpected(form, "the form of a deletion")
        sent = {**about, "wpReason": reason, "wpSuppress": "1", "wpEditToken": unescape(token[1])}
        answer = self._request("POST", _INDEX, sent)
        if _DELETED not in answer.text:
            raise _unexpected(answer, "a deletion")

    def _some_titles(self) -> list[str]:
        ids = "|".join(map(str, range(1, 10)))
        pages = self._ask("GET", action="query", pageids=ids)["query"]["pages"]
        return [page["title"] for page in pages if "title" in page and not page.get("missing")][:_SHOWN_PAGES]

    def _ask(self, method: str, **parameters: str) -> dict[str, Any]:
        what = f"action={parameters['action']}"
        answer = self._request(method, _API, {"format": "json", "formatversion": "2", **parameters})
        try:
            document: dict[str, Any] = answer.json()
        except ValueError as error:
            raise _unexpected(answer, what) from error
        if "error" in document:
            code, info = document["error"]["code"], document["error"]["info"]
            raise UsageError(f"the wiki refuses {what}: {info} ({code})", hint=_HINTS.get(code))
        return document

    def _request(self, method: str, path: str, sent: dict[str, str]) -> requests.Response:
        url, fields = self._endpoint + path, {"params": sent} if method == "GET" else {"data": sent}
        try:
            answer = self._session.request(method, url, timeout=_ANSWER_S, **fields)  # type: ignore[arg-type]
        except requests.RequestException as error:
            raise PartError(f"mock API did not answer at {url}: {network_cause(error)}", "mock-api") from error
        if answer.status_code == 404:
            raise self._no_wiki()
        return answer

    def _no_wiki(self) -> UsageError:
        hint = "`devkit tail source` shows the `meta.domain` of events of its wikis"
        if self._domain is None:
            return UsageError("the mock has several wikis", hint=f"choose one with --domain; {hint}")
        return UsageError(f"the mock has no wiki at {self._domain}", hint=hint)


def _unexpected(answer: requests.Response, what: str) -> PartError:
    text = f"mock API answered {answer.status_code} to {what}: {answer.text[:200]}"
    return PartError(text, "mock-api", hint="`devkit fault list` shows the faults that may cause it")
