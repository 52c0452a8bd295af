"""An edit of a page of a running mock, and the event that the event bus makes of it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson

from devkit.debug.mock_faults import FaultControl
from devkit.debug.tail import TopicTail
from devkit.debug.wiki_client import WikiClient, WikiPage
from devkit.errors import StackError, UsageError
from devkit.stack.topic_reader import TopicRecord
from devkit.waiting import wait_until
from located_config.count import counted

LARGEST_BYTES = 1024**3
_PUBLISHED = timedelta(seconds=30)
_APPENDED = "\n\nAn edit by `devkit edit`."
_REASON = "devkit edit"
_HIDDEN = "user|comment"


@dataclass(frozen=True, slots=True)
class PageEdit:
    """What to do to the page `title`: one of `move_to`, `delete`, `undelete` and `hide`, or an edit with `text` as its
    new source, None for a line more. `size_bytes` is for the HTML of the revision; `create` lets an edit make the page.
    `suppress` hides from administrators too, with `delete` all revisions of the page.
    """

    title: str
    text: str | None = None
    size_bytes: int | None = None
    create: bool = False
    move_to: str | None = None
    delete: bool = False
    undelete: bool = False
    hide: bool = False
    suppress: bool = False

    def only_of_pages(self) -> list[str]:
        """The options that no entity takes."""
        given = {
            "--text": self.text is not None,
            "--bytes": self.size_bytes is not None,
            "--create": self.create,
            "--move": self.move_to is not None,
            "--hide": self.hide,
        }
        return [name for name, is_given in given.items() if is_given]

    def check(self) -> None:
        """Raises UsageError for what no wiki can do."""
        asked = {
            "--move": self.move_to is not None,
            "--delete": self.delete,
            "--undelete": self.undelete,
            "--hide": self.hide or (self.suppress and not self.delete),
        }
        chosen = [name for name, is_asked in asked.items() if is_asked]
        edits = {"--text": self.text is not None, "--bytes": self.size_bytes is not None, "--create": self.create}
        for_edits = [name for name, is_asked in edits.items() if is_asked]
        if len(chosen) > 1 or (chosen and for_edits):
            raise UsageError(
                f"{' and '.join([*chosen, *for_edits])} are several changes", hint="make one after the other"
            )
        if self.size_bytes is not None and self.size_bytes > LARGEST_BYTES:
            raise UsageError(
                f"--bytes {counted(self.size_bytes, 'byte')}: the mock makes HTML of at most 1 GiB",
                hint="give a smaller size",
            )


@dataclass(frozen=True, slots=True)
class WikiChange:
    """A change that the wiki has made: `kind` as its event has it, `rev_id` None where only the event says it."""

    kind: str
    page: WikiPage
    rev_id: int | None = None

    def is_in(self, record: TopicRecord) -> bool:
        """Whether a record is the event of the change."""
        event = read_event(record)
        key = (event.get("wiki_id"), event.get("page_change_kind"), _member(event, "page", "page_id"))
        if key != (self.page.wiki, self.kind, self.page.page_id):
            return False
        return self.rev_id is None or self.rev_id == _member(event, "revision", "rev_id")


@dataclass(frozen=True, slots=True)
class PublishedEdit:
    """The change, the revision that is current after it, and the record of its event."""

    change: WikiChange
    rev_id: int
    record: TopicRecord


def make_edit(
    edit: PageEdit, client: WikiClient, faults: FaultControl, tail: TopicTail, no_event_hint: Callable[[], str]
) -> PublishedEdit:
    """Make the edit and wait for its event at the end of `tail`. Raises UsageError for what the wiki refuses,
    StackError, with a hint, when no event comes.
    """
    client.log_in()
    tail.last(0)
    change = _write(edit, client, faults)
    met: list[TopicRecord] = []

    def is_published() -> TopicRecord | None:
        met.extend(tail.new_records())
        return next((record for record in met if change.is_in(record)), None)

    try:
        record = wait_until(is_published, what="the event", deadline=_PUBLISHED, interval=timedelta(0))
    except StackError as error:
        rev = f", revision {change.rev_id}," if change.rev_id else ""
        text = f"the wiki has the {change.kind} of {change.page.title!r}{rev} and no event came of it"
        raise StackError(f"{text} within {_PUBLISHED.total_seconds():g} s", hint=no_event_hint()) from error
    return PublishedEdit(change, int(str(_member(read_event(record), "revision", "rev_id"))), record)


def _write(edit: PageEdit, client: WikiClient, faults: FaultControl) -> WikiChange:
    if edit.undelete:
        if not client.page(edit.title).is_missing:
            raise UsageError(f"the page {edit.title!r} is not deleted", hint="leave --undelete out to edit it")
        client.write("undelete", title=edit.title, reason=_REASON)
        return WikiChange("undelete", client.page(edit.title))
    is_of_existing = edit.move_to is not None or edit.delete or edit.hide or edit.suppress
    if is_of_existing or not edit.create:
        page = client.require_page(edit.title, hint="" if is_of_existing else "add --create to make it")
    else:
        page = client.page(edit.title)
    if edit.move_to is not None:
        client.write("move", **{"from": edit.title, "to": edit.move_to, "reason": _REASON})
        moved = client.page(edit.move_to)
        return WikiChange("move", moved, moved.rev_id)
    if edit.delete:
        if edit.suppress:
            client.delete_suppressed(edit.title, _REASON)
        else:
            client.write("delete", title=edit.title, reason=_REASON)
        return WikiChange("delete", page, page.rev_id)
    if edit.hide or edit.suppress:
        return _hide(edit, client, page)
    return _save(edit, client, faults, page)


def _hide(edit: PageEdit, client: WikiClient, page: WikiPage) -> WikiChange:
    how = {"suppress": "yes"} if edit.suppress else {}
    answer = client.write("revisiondelete", type="revision", ids=str(page.rev_id), hide=_HIDDEN, reason=_REASON, **how)
    (item,) = answer["items"]
    if item.get("errors"):
        raise UsageError(f"the wiki does not hide revision {page.rev_id}: {item['errors'][0]['code']}")
    if item.get("warnings"):
        raise UsageError(f"editor and comment of revision {page.rev_id} are hidden already", hint="edit the page first")
    return WikiChange("visibility_change", page, page.rev_id)


def _save(edit: PageEdit, client: WikiClient, faults: FaultControl, page: WikiPage) -> WikiChange:
    """The rule for the size comes first: the pipeline may fetch the revision at once."""
    rule = None if edit.size_bytes is None else _size_rule(faults, page, edit.size_bytes)
    content = {"appendtext": _APPENDED.lstrip() if page.is_missing else _APPENDED}
    if edit.text is not None:
        content = {"text": edit.text}
    only = {"createonly": "1"} if page.is_missing else {"nocreate": "1"}
    try:
        answer = _saved(client.write("edit", title=edit.title, summary=_REASON, **content, **only))
    except BaseException:
        if rule is not None:
            faults.remove(rule)
        raise
    saved = WikiPage(page.wiki, answer["title"], answer["pageid"], answer["newrevid"])
    return WikiChange("create" if answer.get("new") else "edit", saved, saved.rev_id)


def _saved(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer, if the edit changed the page. Raises UsageError."""
    if answer.get("nochange"):
        raise UsageError(f"{answer['title']!r} has this text already, so nothing changed", hint="give another --text")
    return answer


def _size_rule(faults: FaultControl, page: WikiPage, size_bytes: int) -> str:
    """Lets the next revision of the page, or all of a new one, have HTML of that size; returns the rule's name."""
    whose = {"page": page.title} if page.is_missing else {"revision": page.rev_id + 1}
    name = f"HTML of {page.title}" if page.is_missing else f"HTML of revision {page.rev_id + 1}"
    if name in {fault.name for fault in faults.listed()}:
        faults.remove(name)
    faults.add([{"name": name, "when": {"wiki": page.wiki, **whose}, "do": {"body": {"size": size_bytes}}}])
    return name


def read_event(record: TopicRecord) -> dict[str, object]:
    """The event of a record; empty for what is no JSON object."""
    try:
        event = orjson.loads(record.value or b"null")
    except orjson.JSONDecodeError:
        return {}
    return event if isinstance(event, dict) else {}


def _member(event: dict[str, object], group: str, name: str) -> object:
    inner = event.get(group)
    return inner.get(name) if isinstance(inner, dict) else None
