"""The three event schemas this software speaks, stated here in full and checked locally.

A schema service would be one more thing that has to be up before an event may pass, so the schemas travel with the
code. All are JSON Schema draft-07; formats (`date-time`, `uri-reference`) are enforced, not only noted.
Validators are compiled once for each process.

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
LAPSED_URI = "/enrichment/lapsed_action/1.0.0"


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
