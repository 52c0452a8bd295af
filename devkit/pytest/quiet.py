"""The kit's own calls of libraries leave no log lines and no warnings in a suite that is not the kit's."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

# Of these the kit's stacks use clients, in this process.
_LIBRARIES = ("boto3", "botocore", "docker", "faker", "kafka", "s3transfer", "testcontainers", "urllib3")


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Keeps what these libraries log and warn of meanwhile from the handlers of the root logger, which are those of
    pytest, and from its warnings. Handlers on the libraries' own loggers go on.

    A suite's own client that works on another thread meanwhile is not heard either; so the kit stays in here no longer
    than its own clients live.
    """
    loggers = [logging.getLogger(name) for name in _LIBRARIES]
    propagated = [logger.propagate for logger in loggers]
    nothing = logging.NullHandler()  # without any handler, Python would print warnings to standard error
    for logger in loggers:
        logger.propagate = False
        logger.addHandler(nothing)
    try:
        with warnings.catch_warnings():
            # A suite may make errors of warnings; a library that fails on its own deprecations is of no use to it.
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        for logger, propagate in zip(loggers, propagated, strict=True):
            logger.removeHandler(nothing)
            logger.propagate = propagate
