"""Why a connection to a broker failed: kafka-python raises that it took too long, and only logs why."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

_FAILED = re.compile(r"Bootstrap connection to \S+ failed: (.*?)(?: \(backoff .*)?$", re.DOTALL)


@contextmanager
def connection_failures() -> Iterator[list[str]]:
    """Gives a list that fills with the reasons, the first one first, while clients connect inside of it."""
    found: list[str] = []

    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if match := _FAILED.search(record.getMessage()):
                found.append(match[1])

    logger, handler = logging.getLogger("kafka.net.manager"), Heard(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield found
    finally:
        logger.removeHandler(handler)
