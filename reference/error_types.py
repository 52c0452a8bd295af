"""The classes of error events."""

from pipeline.records.error_types import ERROR_TYPES
from reference.markdown import code, page, table

_INTRODUCTION = """\
An event that has no output ends as an error event in `sink.error_topic`. It has the ids and the source position, the
class (`error_type`) and a short `message`, never the payload. Metrics count them in
[`enrichment_errors_total`](metrics.md), and a scenario expects one by `traffic.pages.TITLE.error`."""


def error_types() -> str:
    """Every class."""
    rows = [(code(name), meaning) for name, meaning in ERROR_TYPES.items()]
    return page("Error types", _INTRODUCTION, table(("error type", "when an event ends in it"), rows))
