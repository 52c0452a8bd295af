"""Reads catalog, rule and token files, and loads extensions. An error is one line: file, place, value, remedy."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from located_config import extension
from located_config.extension import ExtensionError
from located_config.place import position, shown
from located_config.problem import Problem, problems
from located_config.yaml_file import UnfitError, read_yaml
from mockapi.errors import InputFileError
from mockapi.rules.model import Rule, Rules
from mockapi.wiki.catalog import CatalogPage, CatalogPages

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
    """The faults of the user: of installed packages, of the environment, and those written. Raises InputFileError."""
    try:
        extension.load_extensions((GROUP,), written)
    except ExtensionError as error:
        raise InputFileError(f"{error}; {error.hint}" if error.hint else str(error)) from error


def load_catalog(path: Path) -> tuple[CatalogPage, ...]:
    """A JSONL file, a `CatalogPage` a line; empty lines do not count. Raises InputFileError."""
    pages = []
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            pages.append(CatalogPage.model_validate_json(line))
        except ValidationError as error:
            first, *others = problems(error, CatalogPage)
            raise _unfit(f"{path}:{number}", first, others) from None
    try:
        return TypeAdapter(CatalogPages).validate_python(tuple(pages))
    except ValidationError as error:
        # The value of this error is the whole catalog, which would hide the line.
        raise InputFileError(
            f"{path}: {error.errors()[0]['msg']}; {error.errors()[0].get('ctx', {}).get('hint')}"
        ) from None


def load_rules(path: Path) -> tuple[Rule, ...]:
    """A YAML file with a list of rules. Raises InputFileError."""
    try:
        document = read_yaml(path)
        return TypeAdapter(Rules).validate_python([] if document is None else document)
    except OSError as error:
        raise InputFileError(f"{path}: cannot be read: {error.strerror}") from None
    except UnfitError as error:
        raise InputFileError(f"{path}:{error.line}:{error.column}: {error}") from None
    except RecursionError:
        raise InputFileError(f"{path}: nested too deeply for a list of rules") from None
    except ValidationError as error:
        first, *others = problems(error, Rules, document)
        line, column = position(document, first.location)
        raise _unfit(f"{path}:{line}:{column}", first, others) from None


def load_token(path: Path | None, given: str, variable: str) -> str | None:
    """The token in a file, else the one `given` by an environment variable, None without either.

    Raises InputFileError.
    """
    token, where = (given, variable) if path is None else (_text(path).strip(), str(path))
    if not token and path is None:
        return None
    if not token.isascii() or not token.isprintable() or not token or " " in token:
        # Not shown: it may be a secret with a slip.
        raise InputFileError(f"{where}: not a token: printable ASCII without spaces, at least one character")
    return token


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputFileError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputFileError(f"{path}: not UTF-8 at byte {error.start}") from None


def _unfit(where: str, first: Problem, others: Sequence[Problem]) -> InputFileError:
    place = f"{shown(first.location)}: " if first.location else ""
    more = f" (and {len(others)} more)" if others else ""
    return InputFileError(f"{where}: {place}{first.message}{more}")
