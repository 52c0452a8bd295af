"""The classes of error events, and what MediaWiki's error codes mean for them."""

from docs.generate.markdown import code, page, table
from pipeline.fetch.api_errors import API_ERRORS, Meaning
from pipeline.records.error_types import ERROR_TYPES

_INTRODUCTION = """\
An event that has no output ends as an error event in `sink.error_topic`. It has the ids and the source position, the
class (`error_type`) and a short `message`, never the payload. Metrics count them in
[`enrichment_errors_total`](metrics.md), and a scenario expects one by `traffic.pages.TITLE.error`. `rdf-resolve` writes
fetch_failure events to `sink.fetch_failure_topic` where a fetch failed; there `exception_type` is the error type."""


_CODES = """\
## MediaWiki's error codes

Both of MediaWiki's APIs answer with an error code: the REST API in `errorKey` and `error-keys`, the Action API in
`error.code`. From status 500 on, and with 408, 425 and 429, the status alone decides, by `fetch.retried_statuses`; so a
504 is not tried again within the record's deadline, whatever its code. With any other status the code decides:

- *later*: the request is tried again within the record's deadline, after `Retry-After` if the response has it.
- A code that is not in the table is final, and the status determines the error type.
- A response without a code is not MediaWiki's, and the request is tried again. A redirect is never followed; its
  target is in the message."""


def error_types() -> str:
    """Every class, and every code that has a meaning."""
    types = [(code(name), meaning) for name, meaning in ERROR_TYPES.items()]
    codes = [(", ".join(code(one) for one in row.codes), _said(row.meaning), row.source) for row in API_ERRORS]
    return page(
        "Error types",
        _INTRODUCTION,
        table(("error type", "when an event ends in it"), types),
        _CODES,
        table(("code", "meaning", "where MediaWiki has it"), codes),
    )


def _said(meaning: Meaning) -> str:
    match meaning:
        case "later":
            return "later: tried again"
        case "misrouted":
            return "not MediaWiki's answer to the request: tried again"
        case _:
            return f"final: {code(meaning)}"
