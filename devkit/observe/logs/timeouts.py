"""Whether a failure or an error event is a client's timeout, which a busy machine alone can cause."""

import re

_CLASS = r"[A-Z]\w*"
_TIMEOUT = re.compile(
    # An exception's class, in Java's and in Python's words; `requests` leaves the ending out.
    rf"\b(?=\w*(?:Timeout|TimedOut|DeadlineExceeded))(?:{_CLASS}(?:Exception|Error)\b|(?<=\.){_CLASS}Timeout\b)"
    # The codes of librdkafka, on which most clients of Kafka are built.
    r"|\bcode=\w*(?:TIMED_OUT|MAX_POLL_EXCEEDED)\b"
    # A consumer that came back too late from its work: the group went on without it.
    r"|\bCommitFailed(?:Exception|Error)\b"
    # A driver's words of a worker that it heard nothing of.
    r"|\bheartbeat timed out after \d+"
)

_ERROR_TYPE = re.compile(r"time[sd]?_?out|deadline|batch_budget", re.IGNORECASE)
_NO_ANSWER = re.compile(r"\bno answer (?:within|before)\b|\btimed out\b", re.IGNORECASE)


def names_timeout(failure: str) -> bool:
    """By the exception's class or code. The word alone says nothing: a setting may be called a timeout."""
    return _TIMEOUT.search(failure) is not None


def reports_timeout(error: str) -> bool:
    """Whether an error event does, by its class or by what its message says of the last request:
    `deadline_exceeded: …`, `fetch_failed: no answer within 2 s`.
    """
    error_type, _, message = error.partition(": ")
    return any((_ERROR_TYPE.search(error_type), _NO_ANSWER.search(message), names_timeout(message)))
