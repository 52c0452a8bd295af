"""The user's own faults of the mock: see `located_config.extension`."""

import argparse
from collections.abc import Sequence

from located_config import extension
from located_config.extension import ExtensionError
from mockapi.errors import InputFileError

GROUP = "enrichment_mockapi.extensions"
"""The entry points of installed packages."""


def add_option(parser: argparse.ArgumentParser) -> None:
    """`--extend`, the argument of `load_extensions`."""
    parser.add_argument(
        "--extend",
        action="append",
        default=[],
        metavar="PATH|MODULE",
        help="Load Python of your own that adds a fault: a file, or an importable module; may be repeated.",
    )


def load_extensions(written: Sequence[str] = ()) -> None:
    """Those of installed packages, of the environment, and those written. Raises InputFileError."""
    try:
        extension.load_extensions((GROUP,), written)
    except ExtensionError as error:
        raise InputFileError(f"{error}; {error.hint}" if error.hint else str(error)) from error
