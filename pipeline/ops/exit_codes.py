"""How a command of an operator ends: 1 when something did not answer, 2 when it was refused, 130 for Ctrl-C while it
copies.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from pipeline.errors import PipelineError


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turns a PipelineError into its message on standard error and its exit code."""
    try:
        yield
    except PipelineError as error:
        click.echo(error.render(), err=True)
        sys.exit(error.exit_code)
