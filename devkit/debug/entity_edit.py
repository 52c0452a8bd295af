"""A change of an entity of a running mock, and the events that the event bus makes of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from devkit.debug.page_edit import read_event
from devkit.debug.tail import TopicTail
from devkit.debug.wiki_client import WikiClient
from devkit.errors import StackError, UsageError
from devkit.stack.topic_reader import TopicRecord
from devkit.traffic.entity_life import entity_id, entity_title
from devkit.waiting import wait_until

_PUBLISHED: Final = timedelta(seconds=30)
_REASON: Final = "devkit edit"
_FORMS: Final = {"--label": "LANGUAGE=TEXT", "--sitelink": "WIKI=TITLE"}


@dataclass(frozen=True, slots=True)
class EntityEdit:
    """One change of `entity`, an id such as Q42. `label` is language and text, `sitelink` site and title, with an empty
    text or title to remove it; `redirect_to` and `merge_into` are ids of other entities. `suppress` is for `delete`:
    all revisions are hidden from administrators too.
    """

    entity: str
    label: tuple[str, str] | None = None
    sitelink: tuple[str, str] | None = None
    redirect_to: str | None = None
    merge_into: str | None = None
    delete: bool = False
    undelete: bool = False
    suppress: bool = False

    def chosen(self) -> list[str]:
        """The options that were given."""
        given = {
            "--label": self.label is not None,
            "--sitelink": self.sitelink is not None,
            "--redirect-to": self.redirect_to is not None,
            "--merge-into": self.merge_into is not None,
            "--delete": self.delete,
            "--undelete": self.undelete,
        }
        return [name for name, is_given in given.items() if is_given]

    def check(self) -> None:
        """Raises UsageError for several changes, and for none."""
        chosen = self.chosen()
        if len(chosen) > 1:
            raise UsageError(f"{' and '.join(chosen)} are several changes", hint="make one after the other")
        if self.suppress and not self.delete:
            raise UsageError(
                f"--suppress is for a deletion, and {self.entity} is not to be deleted", hint="add --delete"
            )
        if not chosen:
            raise UsageError(
                f"{self.entity}: no change is given",
                hint="--label, --sitelink, --redirect-to, --merge-into, --delete and --undelete change an entity",
            )


@dataclass(frozen=True, slots=True)
class PublishedChange:
    """The change of an entity: `stream` is that of its event, without `mediawiki.`."""

    entity: str
    stream: str
    rev: int
    record: TopicRecord


def parse_member(option: str, written: str | None) -> tuple[str, str] | None:
    """`en=Douglas Adams` as two. Raises UsageError."""
    if written is None:
        return None
    key, equals, value = written.partition("=")
    if not key or not equals:
        raise UsageError(f"{option} {written}: it has no `=`", hint=f"write {option} {_FORMS[option]}")
    return key, value


def make_entity_edit(
    edit: EntityEdit, client: WikiClient, tail: TopicTail, no_event_hint: Callable[[], str]
) -> tuple[PublishedChange, ...]:
    """Make the change and wait for its events at the end of `tail`: one, or two for a merge that changes both entities.
    Raises UsageError for what the wiki refuses, StackError, with a hint, when no event comes.
    """
    client.log_in()
    _require_entities(edit, client)
    tail.last(0)
    awaited = _write(edit, client)
    records: list[TopicRecord] = []

    def are_published() -> tuple[PublishedChange, ...] | None:
        records.extend(tail.new_records())
        found = {(made.entity, made.rev): made for made in map(_published, records) if made is not None}
        return tuple(found[one] for one in awaited) if found.keys() >= set(awaited) else None

    try:
        return wait_until(are_published, what="the event", deadline=_PUBLISHED, interval=timedelta(0))
    except StackError as error:
        changed = " and ".join(f"{entity}, revision {rev}," for entity, rev in awaited)
        text = f"the wiki has {changed} and no event came of it within {_PUBLISHED.total_seconds():g} s"
        raise StackError(text, hint=no_event_hint()) from error


def _require_entities(edit: EntityEdit, client: WikiClient) -> None:
    for entity in filter(None, (None if edit.undelete else edit.entity, edit.merge_into)):
        if client.page(entity_title(entity)).is_missing:
            raise UsageError(
                f"there is no entity {entity} now",
                hint=f"if it was deleted, `devkit edit {entity} --undelete` restores it; else give another id",
            )


def _write(edit: EntityEdit, client: WikiClient) -> Sequence[tuple[str, int]]:
    """Each entity that changes, and the revision that its event has."""
    entity, title = edit.entity, entity_title(edit.entity)
    if edit.delete:
        page = client.require_page(title)
        if edit.suppress:
            client.delete_suppressed(title, _REASON)
        else:
            client.write("delete", title=title, reason=_REASON)
        return [(entity, page.rev_id)]
    if edit.undelete:
        if not client.page(title).is_missing:
            raise UsageError(f"{entity} is not deleted", hint="leave --undelete out to edit it")
        client.write("undelete", title=title, reason=_REASON)
        return [(entity, client.page(title).rev_id)]
    entities = [entity] if edit.merge_into is None else [edit.merge_into, entity]
    before = {name: client.require_page(entity_title(name)).rev_id for name in entities}
    _change(edit, client)
    after = {name: client.page(entity_title(name)).rev_id for name in entities}
    changed = [(name, rev) for name, rev in after.items() if rev != before[name]]
    if not changed:
        raise UsageError(f"{entity} has this already, so nothing changed", hint="give another value")
    return changed


def _change(edit: EntityEdit, client: WikiClient) -> None:
    if edit.label is not None:
        language, value = edit.label
        client.write_entity("wbsetlabel", id=edit.entity, language=language, value=value, summary=_REASON)
    elif edit.sitelink is not None:
        site, title = edit.sitelink
        client.write_entity("wbsetsitelink", id=edit.entity, linksite=site, linktitle=title, summary=_REASON)
    elif edit.redirect_to is not None:
        client.write_entity("wbcreateredirect", **{"from": edit.entity, "to": edit.redirect_to, "summary": _REASON})
    elif edit.merge_into is not None:
        client.write_entity("wbmergeitems", fromid=edit.entity, toid=edit.merge_into, summary=_REASON)


def _published(record: TopicRecord) -> PublishedChange | None:
    event = read_event(record)
    title, rev = event.get("page_title"), event.get("rev_id")
    if not isinstance(title, str) or not isinstance(rev, int):
        return None
    return PublishedChange(entity_id(title), record.topic.rpartition(".")[2], rev, record)
