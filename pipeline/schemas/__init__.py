"""The event schemas this software speaks, stated here in full and checked locally.

A schema service would be one more thing that has to be up before an event may pass, so the schemas travel with the
code. All are JSON Schema draft-07; formats (`date-time`, `uri-reference`) are enforced, not only noted.
Validators are compiled once for each process.

`page_html_content_change.json` is our own: html-enrichment adds a diff, and the schema of page changes is closed. It
states what the job sees to, so that every output is valid. `streams.json` says which schema the events of each stream
have, as a stream's configuration needs it; content-enrichment passes on the version of page change that it read.
`rdf_change.json` is the public schema of RDF mutations. Those of the streaming updater's source events and side outputs
are public too: `page_delete.json` is also that of suppressed pages, and `rdf_lapsed_action.json` that of its late
events.

What is read may have more fields than are stated here, as a minor version of a schema adds some.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema_rs

PAGE_CHANGE_NAME = "/mediawiki/page/change"
PAGE_CHANGE_MAJOR = 1
PAGE_CHANGE_URI = f"{PAGE_CHANGE_NAME}/1.2.0"
ERROR_URI = "/error/2.1.0"
HTML_CHANGE_URI = "/enrichment/page_html_content_change/1.0.0"
EDIT_COUNT_URI = "/enrichment/page_edit_count/1.0.0"
LAPSED_URI = "/enrichment/lapsed_action/1.0.0"
OPERATION_URI = "/enrichment/rdf_operation/1.0.0"
RDF_CHANGE_URI = "/mediawiki/wikibase/entity/rdf_change/2.0.0"
FETCH_FAILURE_URI = "/rdf_streaming_updater/fetch_failure/1.2.0"
REVISION_CREATE_URI = "/mediawiki/revision/create/2.0.0"
PAGE_DELETE_URI = "/mediawiki/page/delete/1.0.0"
PAGE_UNDELETE_URI = "/mediawiki/page/undelete/1.0.0"
RDF_RECONCILE_URI = "/rdf_streaming_updater/reconcile/1.0.0"
RDF_LAPSED_URI = "/rdf_streaming_updater/lapsed_action/1.1.0"
STATE_INCONSISTENCY_URI = "/rdf_streaming_updater/state_inconsistency/1.1.0"

_UPDATER_FILES = {
    REVISION_CREATE_URI: "revision_create.json",
    PAGE_DELETE_URI: "page_delete.json",
    PAGE_UNDELETE_URI: "page_undelete.json",
    RDF_RECONCILE_URI: "rdf_reconcile.json",
    RDF_LAPSED_URI: "rdf_lapsed_action.json",
    STATE_INCONSISTENCY_URI: "state_inconsistency.json",
}


@cache
def page_change_validator() -> jsonschema_rs.Draft7Validator:
    """Validates parsed events of `PAGE_CHANGE_URI` without any other field: `is_valid`, `validate`, `iter_errors`."""
    return _compiled(_stated("page_change.json"))


@cache
def known_fields_validator() -> jsonschema_rs.Draft7Validator:
    """Validates every field that `PAGE_CHANGE_URI` has, wherever there are others beside it."""
    return _compiled(_opened(_stated("page_change.json")))


@cache
def used_fields_validator() -> jsonschema_rs.Draft7Validator:
    """Validates the fields of a page change event that the jobs use, and no other."""
    return _compiled(_stated("page_change_used.json"))


@cache
def error_validator() -> jsonschema_rs.Draft7Validator:
    """Validates parsed events of `ERROR_URI`."""
    return _compiled(_stated("error.json"))


@cache
def lapsed_validator() -> jsonschema_rs.Draft7Validator:
    """Validates parsed events of `LAPSED_URI`."""
    return _compiled(_stated("lapsed_action.json"))


@cache
def html_change_validator() -> jsonschema_rs.Draft7Validator:
    """Validates parsed events of `HTML_CHANGE_URI`."""
    return _compiled(_stated("page_html_content_change.json"))


@cache
def edit_count_validator() -> jsonschema_rs.Draft7Validator:
    """Validates parsed events of `EDIT_COUNT_URI`."""
    return _compiled(_stated("page_edit_count.json"))


@cache
def operation_validator() -> jsonschema_rs.Draft7Validator:
    """Validates parsed operation records, `OPERATION_URI`; they do not name their schema."""
    return _compiled(_stated("rdf_operation.json"))


@cache
def rdf_change_validator() -> jsonschema_rs.Draft7Validator:
    """Validates parsed events of `RDF_CHANGE_URI`."""
    return _compiled(_stated("rdf_change.json"))


@cache
def fetch_failure_validator() -> jsonschema_rs.Draft7Validator:
    """Validates parsed events of `FETCH_FAILURE_URI`."""
    return _compiled(_stated("fetch_failure.json"))


@cache
def updater_validator(uri: str) -> jsonschema_rs.Draft7Validator:
    """Validates parsed events of a schema of the streaming updater's source events or side outputs, without any other
    field where that is closed. Raises KeyError for another schema.
    """
    return _compiled(_stated(_UPDATER_FILES[uri]))


@cache
def updater_known_fields_validator(uri: str) -> jsonschema_rs.Draft7Validator:
    """As `updater_validator`, wherever there are other fields beside those that the schema has."""
    return _compiled(_opened(_stated(_UPDATER_FILES[uri])))


def validator_of(uri: str) -> jsonschema_rs.Draft7Validator | None:
    """Of the events that name this schema; None of one that is not stated here."""
    if uri in _UPDATER_FILES:
        return updater_validator(uri)
    made = {
        PAGE_CHANGE_URI: page_change_validator,
        HTML_CHANGE_URI: html_change_validator,
        EDIT_COUNT_URI: edit_count_validator,
        ERROR_URI: error_validator,
        LAPSED_URI: lapsed_validator,
        OPERATION_URI: operation_validator,
        RDF_CHANGE_URI: rdf_change_validator,
        FETCH_FAILURE_URI: fetch_failure_validator,
    }.get(uri)
    return None if made is None else made()


def _stated(filename: str) -> Any:
    return json.loads(files(__name__).joinpath(filename).read_text(encoding="utf-8"))


def _compiled(schema: Any) -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator(schema, validate_formats=True)


def _opened(schema: Any) -> Any:
    """The schema with no object closed."""
    if isinstance(schema, list):
        return [_opened(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _opened(part) for name, part in schema.items() if (name, part) != ("additionalProperties", False)}
