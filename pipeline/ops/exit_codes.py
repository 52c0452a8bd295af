"""How a command of an operator ends: 1 when something did not answer, 2 when it was refused, 130 for Ctrl-C while it
copies.
"""

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

from pipeline.errors import PipelineError

_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turns a PipelineError into its message on standard error and its exit code, and so a full disk below what is
    printed.
    """
    try:
        yield
    except PipelineError as error:
        _end(error)
    except OSError as error:
        if error.errno not in _FULL or error.filename is not None:
            raise
        _end(
            PipelineError(
                f"standard output could not be written: {error.strerror}",
                hint="free some space, or name a file on another disk, and run the command again",
            )
        )


def _end(error: PipelineError) -> NoReturn:
    click.echo(error.render(), err=True)
    sys.exit(error.exit_code)
