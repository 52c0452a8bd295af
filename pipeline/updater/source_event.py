"""What a Wikibase's event says about an entity: what was done, at which revision, and when.

    topic                       $schema                            action
    mediawiki.revision-create   /mediawiki/revision/create/2.…     revision-create
    mediawiki.page-delete       /mediawiki/page/delete/1.…         page-delete
    mediawiki.page-suppress     /mediawiki/page/delete/1.…         page-delete
    mediawiki.page-undelete     /mediawiki/page/undelete/1.…       page-undelete
    a stream of reconciliation  /rdf_streaming_updater/reconcile/1.…   reconcile-creation, reconcile-deletion

An event is validated by the fields that its schema has, and may have others. Its time is `meta.dt`, which all of them
have from the wiki's clock; `dt` is that of the revision, which an import may set to years ago, and counts where the
other is missing. Times are milliseconds since 1970.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, cast, get_args

import orjson

from pipeline.jobs.message import SourceMessage
from pipeline.rdf.operation import ENTITY_ID
from pipeline.records.error_event import Failure
from pipeline.records.event_id import event_id_in
from pipeline.records.page_change import InvalidEventError
from pipeline.records.record import Position
from pipeline.schemas import (
    PAGE_DELETE_URI,
    PAGE_UNDELETE_URI,
    RDF_RECONCILE_URI,
    REVISION_CREATE_URI,
    updater_known_fields_validator,
)

Action = Literal["revision-create", "page-delete", "page-undelete", "reconcile-creation", "reconcile-deletion"]
ACTIONS: tuple[Action, ...] = get_args(Action)
"""In the order in which events of one revision and one time can have happened."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_EXCERPT_BYTES = 120
_MAX_TEXT_CHARACTERS = 200
_VERSION = re.compile(r"(/.+)/([0-9]{1,9})\.[0-9]{1,9}\.[0-9]{1,9}")
_PAGE_ACTIONS: dict[str, Action] = {
    REVISION_CREATE_URI: "revision-create",
    PAGE_DELETE_URI: "page-delete",
    PAGE_UNDELETE_URI: "page-undelete",
}
_URIS = {uri.rpartition("/")[0]: uri for uri in (*_PAGE_ACTIONS, RDF_RECONCILE_URI)}


@dataclass(frozen=True, slots=True)
class EntityPages:
    """Which pages are entities: those of the wiki with this `meta.domain`, in these namespaces, whose title is an
    entity's id, with or without the name of a namespace before it.
    """

    domain: str
    namespaces: frozenset[int] = frozenset({0, 120, 146})


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """One event. `rev` is the entity's revision at that time, at least 1, and 0 for a `reconcile-deletion` that does
    not know it; `parent` is the one before it, for a `revision-create` alone. `appended_ms` is the time of its record.
    """

    entity: str
    action: Action
    rev: int
    parent: int | None
    time_ms: int
    appended_ms: int
    position: Position
    schema: str
    stream: str
    domain: str
    event_id: str | None
    request_id: str | None

    @property
    def order(self) -> tuple[int, int, int, str, int, int]:
        """By revision, then by time; action and position settle what is left, so that the order is one."""
        position = self.position
        rank = ACTIONS.index(self.action)
        return (self.rev, self.time_ms, rank, position.topic, position.partition, position.offset)

    def to_bytes(self) -> bytes:
        """As it is kept in a state."""
        position = self.position
        return orjson.dumps(
            [
                *(self.entity, self.action, self.rev, self.parent, self.time_ms, self.appended_ms),
                *(position.topic, position.partition, position.offset),
                *(self.schema, self.stream, self.domain, self.event_id, self.request_id),
            ]
        )

    @classmethod
    def from_bytes(cls, kept: bytes) -> "SourceEvent":
        """What `to_bytes` wrote."""
        entity, action, rev, parent, time_ms, appended_ms, *others = orjson.loads(kept)
        topic, partition, offset, schema, stream, domain, event_id, request_id = others
        return cls(
            entity=entity,
            action=action,
            rev=rev,
            parent=parent,
            time_ms=time_ms,
            appended_ms=appended_ms,
            position=Position(topic, partition, offset),
            schema=schema,
            stream=stream,
            domain=domain,
            event_id=event_id,
            request_id=request_id,
        )


def parse_source_event(message: SourceMessage, pages: EntityPages) -> SourceEvent | None:
    """The event in a message; None where it is of another wiki, such as a canary, or of a page that is no entity.

    Raises InvalidEventError with `malformed_json`, `schema_violation`, `unknown_schema` or `unknown_schema_version`.
    """
    document = _parsed(message.value)
    if _is_foreign(document, pages):
        return None
    uri = _read_by(document)
    for violation in updater_known_fields_validator(uri).iter_errors(document):
        raise _invalid(uri, "/".join(map(str, violation.instance_path)) or "(top)", violation.message)
    entity = _entity_in(document, pages, uri)
    if entity is None:
        return None
    meta = document["meta"]
    action = _action_in(document, uri)
    time_ms = _time_ms(meta.get("dt", document.get("dt")), uri)
    return SourceEvent(
        entity=entity,
        action=action,
        rev=_revision_in(document, action, uri),
        # MediaWiki's 0 says that there is no parent.
        parent=(int(document.get("rev_parent_id", 0)) or None) if action == "revision-create" else None,
        time_ms=time_ms,
        appended_ms=(message.appended - _EPOCH) // _MILLISECOND if message.has_time else time_ms,
        position=message.position,
        schema=document["$schema"],
        stream=meta["stream"][:_MAX_TEXT_CHARACTERS],
        domain=pages.domain,
        event_id=event_id_in(document),
        request_id=meta["request_id"][:_MAX_TEXT_CHARACTERS] if "request_id" in meta else None,
    )


def moment(milliseconds: int) -> datetime:
    """The time in UTC."""
    return _EPOCH + milliseconds * _MILLISECOND


def _parsed(value: bytes | None) -> Any:
    try:
        return orjson.loads(value or b"")
    except orjson.JSONDecodeError as error:
        excerpt = (value or b"")[:_EXCERPT_BYTES].decode(errors="replace")
        text = f"message of {len(value or b'')} bytes is not JSON: {error}; it begins {excerpt!r}"
        raise InvalidEventError(Failure("malformed_json", text)) from error


def _is_foreign(document: Any, pages: EntityPages) -> bool:
    """Whether it names another wiki. A topic has the events of all wikis, and what is wrong with theirs is no error."""
    meta = document.get("meta") if isinstance(document, dict) else None
    domain = meta.get("domain") if isinstance(meta, dict) else None
    return isinstance(domain, str) and domain != pages.domain


def _read_by(document: Any) -> str:
    """The schema that an event is validated by."""
    schema = document.get("$schema") if isinstance(document, dict) else None
    if not isinstance(schema, str):
        text = "not an event of a Wikibase at $schema: it names no schema"
        raise InvalidEventError(Failure("schema_violation", text))
    version = _VERSION.fullmatch(schema)
    uri = None if version is None else _URIS.get(version[1])
    if version is None or uri is None:
        text = f"event of {schema[:200]!r}, not of {', '.join(_URIS)}"
        raise InvalidEventError(Failure("unknown_schema", text))
    major = uri.rpartition("/")[2].partition(".")[0]
    if version[2] != major:
        text = f"event of {schema}, of which major version {major} can be read"
        raise InvalidEventError(Failure("unknown_schema_version", text))
    return uri


def _entity_in(document: dict[str, Any], pages: EntityPages, uri: str) -> str | None:
    if "domain" not in document["meta"]:
        return None
    if uri == RDF_RECONCILE_URI:
        if not ENTITY_ID.fullmatch(document["item"]):
            raise _invalid(uri, "item", f"{document['item'][:100]!r} is no entity's id")
        return cast("str", document["item"])
    if document["page_namespace"] not in pages.namespaces:
        return None
    entity: str = document["page_title"].rpartition(":")[2]
    return entity if ENTITY_ID.fullmatch(entity) else None


def _action_in(document: dict[str, Any], uri: str) -> Action:
    if uri in _PAGE_ACTIONS:
        return _PAGE_ACTIONS[uri]
    return "reconcile-creation" if document["reconciliation_action"] == "CREATION" else "reconcile-deletion"


def _revision_in(document: dict[str, Any], action: Action, uri: str) -> int:
    field = "revision_id" if uri == RDF_RECONCILE_URI else "rev_id"
    # To JSON Schema 5.0 is an integer too.
    rev = int(document[field])
    if rev == 0 and action != "reconcile-deletion":
        raise _invalid(uri, field, "0 is no revision")
    return rev


def _time_ms(text: str, uri: str) -> int:
    try:
        return (datetime.fromisoformat(text).astimezone(UTC) - _EPOCH) // _MILLISECOND
    except (ValueError, OverflowError) as error:  # such as a leap second, which the schema allows
        raise _invalid(uri, "meta/dt", f"{text!r} is no time that can be read") from error


def _invalid(uri: str, place: str, message: str) -> InvalidEventError:
    text = f"not a {uri} event at {place[:200]}: {message[:250]}"
    return InvalidEventError(Failure("schema_violation", text))
