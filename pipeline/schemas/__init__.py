"""The two event schemas this software speaks, stated here in full and checked locally.

A schema service would be one more thing that has to be up before an event may pass, so the schemas travel with the
code. Both are JSON Schema draft-07; formats (`date-time`, `uri-reference`) are enforced, not only noted.
Validators are compiled once for each process.
"""

import json
from functools import cache
from importlib.resources import files

import jsonschema_rs

PAGE_CHANGE_URI = "/mediawiki/page/change/1.2.0"
ERROR_URI = "/error/2.1.0"


def _compile(filename: str) -> jsonschema_rs.Draft7Validator:
    schema = json.loads(files(__name__).joinpath(filename).read_text(encoding="utf-8"))
    return jsonschema_rs.Draft7Validator(schema, validate_formats=True)


@cache
def page_change_validator() -> jsonschema_rs.Draft7Validator:
    """Validates parsed events of `PAGE_CHANGE_URI`: `is_valid`, `validate`, `iter_errors`."""
    return _compile("page_change.json")


@cache
def error_validator() -> jsonschema_rs.Draft7Validator:
    """Validates parsed events of `ERROR_URI`."""
    return _compile("error.json")
