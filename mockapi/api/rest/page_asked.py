"""What a request of a page asks for, as the answers in its forms need it."""

from dataclasses import dataclass

from mockapi.api.rest.path import Form, Module
from mockapi.api.rest.redirects import Places
from mockapi.server.request import Request
from mockapi.wiki.title import Title
from mockapi.wiki.wiki import Wiki


@dataclass(frozen=True, slots=True)
class PageAsked:
    """A page in one form. `text` is the title as written, `title` what it means; None: no page can have it."""

    request: Request
    module: Module
    form: Form
    text: str
    wiki: Wiki
    title: Title | None

    @property
    def places(self) -> Places:
        """For redirects: where another title is found in the same form and with the same query."""
        return Places(self.module, self.form, self.request.query)
