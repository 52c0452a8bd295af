"""What clients of kafka-python raise, and what they only log, as errors of the job."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

from kafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    TopicAuthorizationFailedError,
)

from pipeline.errors import MISSING_RIGHTS, PipelineError, RefusedError

_DENIED = (TopicAuthorizationFailedError, GroupAuthorizationFailedError, ClusterAuthorizationFailedError)


def broker_failure(operation: str, error: Exception, *, hint: str | None = None) -> PipelineError:
    """The error for a client's exception: RefusedError where a right is missing, else PipelineError with the hint."""
    if isinstance(error, _DENIED):
        # The exception's own text is the whole request.
        return RefusedError(f"{operation}: the brokers deny it: {type(error).__name__}", hint=MISSING_RIGHTS)
    return PipelineError(f"{operation}: {error!r}", hint=hint)


_FAILED = re.compile(r"Bootstrap connection to \S+ failed: (.*?)(?: \(backoff .*)?$", re.DOTALL)


@contextmanager
def connection_failures() -> Iterator[list[str]]:
    """Gives a list that fills with the reasons, the first one first, while clients connect inside of it: kafka-python
    raises only that it took too long, and logs why.
    """
    reasons: list[str] = []

    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if match := _FAILED.search(record.getMessage()):
                reasons.append(match[1])

    logger, handler = logging.getLogger("kafka.net.manager"), Heard(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield reasons
    finally:
        logger.removeHandler(handler)
