"""Whether a failure is a timeout of a client: on a machine that is short of time it would come of nothing else."""

import re

_CLASS = r"[A-Z]\w*"
_TIMEOUT = re.compile(
    # An exception's class, in Java's and in Python's words; `requests` leaves the ending out.
    rf"\b(?=\w*(?:Timeout|TimedOut|DeadlineExceeded))(?:{_CLASS}(?:Exception|Error)\b|(?<=\.){_CLASS}Timeout\b)"
    # The code of librdkafka, on which most clients of Kafka are built.
    r"|\bcode=\w*TIMED_OUT\b"
)


def names_timeout(failure: str) -> bool:
    """By the class of the exception that it tells of, not by its other words: a setting may be called a timeout."""
    return _TIMEOUT.search(failure) is not None
