"""`/w/index.php` with `action=delete`: the form by which people delete a page.

    GET ──> the form, with a token for that page        POST wpEditToken, wpReason, wpSuppress ──> the page is deleted

MediaWiki has suppression of a whole page here alone: its Action API has no parameter for it. Headings and messages are
MediaWiki's, the rest of the HTML is not.
"""

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final, Self

from mockapi.api import status as statuses
from mockapi.api.action.endpoint import web_server
from mockapi.api.action.form import Form, read_form
from mockapi.api.action.targets import subjects
from mockapi.api.endpoint import Context
from mockapi.api.rest.visibility import session_of
from mockapi.api.run_jobs import PATH, index_reply
from mockapi.plan import StatusAnswer
from mockapi.rules.matching import Target
from mockapi.server.reply import Reply
from mockapi.server.request import Request
from mockapi.wiki.edits.results import WriteError
from mockapi.wiki.people import Author
from mockapi.wiki.title import InvalidTitle, Title
from mockapi.wiki.wiki import Wiki

if TYPE_CHECKING:
    from mockapi.world import World

_ACTION: Final = "delete"
_BAD_TITLE: Final = "The requested page title contains invalid characters."
_NOT_ALLOWED: Final = (
    "You do not have permission to delete this page, for the following reason: The action you have requested is "
    "limited to users in the group: Administrators."
)
_DELETED_ALREADY: Final = "It may have already been deleted by someone else."
_FORM: Final = (
    '<form method="post"><label>Reason: <input name="wpReason"></label>{suppress}'
    '<input type="hidden" name="wpEditToken" value="{token}"><input type="submit" value="Delete page"></form>'
)
_SUPPRESS: Final = '<label><input type="checkbox" name="wpSuppress" value="1">Suppress data from administrators</label>'


@dataclass(frozen=True, slots=True)
class DeleteForm:
    """A request for the form of `wiki`, None for a host that is no wiki's."""

    wiki: Wiki | None
    form: Form
    targets: tuple[Target, ...]
    key: str
    renders: bool = False

    @classmethod
    def match(cls, request: Request, world: "World") -> Self | None:
        """None for another path or action."""
        if request.path != PATH:
            return None
        form = read_form(request)
        if form.values.get("action") != _ACTION:
            return None
        wiki = world.wikis.serving(request.host)
        targets = subjects(wiki, form)
        return cls(wiki, form, targets, f"action={_ACTION}&title={form.values.get('title', '')}")

    def status_reply(self, status: StatusAnswer, request_id: str) -> Reply:
        """Without words of the form."""
        return statuses.reply(status, request_id)

    async def reply(self, context: Context) -> Reply:
        """The form, or what became of the page. Status 200, also for what is not allowed, but for a bad title."""
        wiki = self.wiki
        if wiki is None:
            return web_server(404)
        try:
            title = wiki.title(self.form.values.get("title", ""))
        except InvalidTitle:
            return _page(context, wiki, "Bad title", escape(_BAD_TITLE), code=400)
        heading, body = self._answer(context, wiki, title)
        return _page(context, wiki, heading, body)

    def _answer(self, context: Context, wiki: Wiki, title: Title) -> tuple[str, str]:
        """Heading, and HTML below it."""
        values, accounts, session = self.form.values, context.world.accounts(wiki), session_of(context, wiki)
        user = accounts.user_of(session)
        if user is None or not accounts.may(user, "delete"):
            return "Permission error", escape(_NOT_ALLOWED)
        may_suppress, about = accounts.may(user, "suppressrevision"), (_ACTION, title.text)
        is_accepted = accounts.accepts("csrf", session, values.get("wpEditToken", ""), *about)
        if wiki.page(title) is not None and not (self.form.posted and is_accepted):
            token = escape(accounts.token("csrf", session, *about))
            return f'Delete "{title.text}"', _FORM.format(token=token, suppress=_SUPPRESS if may_suppress else "")
        try:
            context.world.overlay(wiki, context.request_id).delete(
                title,
                by=Author(user.name, user.id),
                reason=values.get("wpReason", ""),
                suppress="wpSuppress" in values and may_suppress,
            )
        except WriteError:
            text = f'The page or file "{title.text}" could not be deleted. {_DELETED_ALREADY}'
            return f'Cannot delete page "{title.text}"', escape(text)
        text = f'"{title.text}" has been deleted. See deletion log for a record of recent deletions.'
        return "Action complete", escape(text)


def _page(context: Context, wiki: Wiki, heading: str, body: str, *, code: int = 200) -> Reply:
    text = (
        f'<!DOCTYPE html>\n<html lang="{wiki.language}" dir="ltr">\n<head>\n<meta charset="UTF-8">\n'
        f"<title>{escape(f'{heading} - {wiki.sitename}')}</title>\n</head>\n"
        f"<body>\n<h1>{escape(heading)}</h1>\n{body}\n</body>\n</html>"
    )
    return index_reply(code, b"text/html; charset=UTF-8", text.encode(), context.request_id)
