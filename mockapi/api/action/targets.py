"""What a request to the Action API is about, for rules and journal: every revision and page that it names."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from mockapi.api.action.form import Form
from mockapi.api.action.parameters import VALUES_OF_BOTS, split
from mockapi.rules.matching import Target
from mockapi.wiki.catalog import CatalogPage
from mockapi.wiki.title import InvalidTitle
from mockapi.wiki.wiki import Wiki

_INTEGER: Final = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_TITLES: Final = ("titles", "title", "from")
_PAGE_IDS: Final = ("pageids", "pageid", "fromid")
_REVISIONS: Final = ("revids", "ids")


def subjects(wiki: Wiki | None, form: Form) -> tuple[Target, ...]:
    """The targets, at least one: of no wiki for None. A page that is asked for stands for its current revision."""
    if wiki is None:
        return (Target(),)
    targets = tuple(dict.fromkeys(islice(_targets(wiki, form), VALUES_OF_BOTS)))
    return targets or (Target(wiki=wiki.name),)


def _targets(wiki: Wiki, form: Form) -> Iterator[Target]:
    for word in _words(form, _REVISIONS):
        if _INTEGER.fullmatch(word):
            yield revision_target(wiki, int(word))
    for word in _words(form, _PAGE_IDS):
        if _INTEGER.fullmatch(word):
            page = wiki.page_by_id(int(word))
            yield Target(wiki=wiki.name, page_id=int(word)) if page is None else page_target(page)
    for word in _words(form, _TITLES):
        yield _title_target(wiki, word)


def _words(form: Form, names: tuple[str, ...]) -> Iterator[str]:
    return (word for name in names if name in form.values for word in split(form.values[name]))


def _title_target(wiki: Wiki, text: str) -> Target:
    try:
        title = wiki.title(text)
    except InvalidTitle:
        return Target(wiki=wiki.name, page=text)
    page = wiki.page(title)
    return Target(wiki=wiki.name, page=title.text) if page is None else page_target(page)


def page_target(page: CatalogPage) -> Target:
    """What rules and journal see of a page: its current revision, too."""
    return Target(wiki=page.wiki, page=page.title, page_id=page.page_id, revision=page.revisions[-1].rev_id)


def revision_target(wiki: Wiki, rev_id: int) -> Target:
    """A revision that is not known has no page, and rules can match it by its id alone."""
    located = wiki.revision(rev_id)
    if located is None:
        return Target(wiki=wiki.name, revision=rev_id)
    page = located.page
    return Target(wiki=wiki.name, page=page.title, page_id=page.page_id, revision=rev_id)
