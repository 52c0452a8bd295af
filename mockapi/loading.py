"""Reads catalog, rule and token files; what does not fit becomes one line with file, place, value and remedy."""

from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from mockapi.catalog import CatalogPage, CatalogPages
from mockapi.errors import InputFileError
from mockapi.problems import problems
from mockapi.rules.model import Rule, Rules


def load_catalog(path: Path) -> tuple[CatalogPage, ...]:
    """A JSONL file, a `CatalogPage` a line; empty lines do not count. Raises InputFileError."""
    pages = []
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            pages.append(CatalogPage.model_validate_json(line))
        except ValidationError as error:
            raise _unfit(f"{path}:{number}", error, CatalogPage) from None
    try:
        return TypeAdapter(CatalogPages).validate_python(tuple(pages))
    except ValidationError as error:
        # The value of this error is the whole catalog, which would hide the line.
        raise InputFileError(
            f"{path}: {error.errors()[0]['msg']}; {error.errors()[0].get('ctx', {}).get('hint')}"
        ) from None


def load_rules(path: Path) -> tuple[Rule, ...]:
    """A YAML file with a list of rules. Raises InputFileError."""
    text = _text(path)
    try:
        document: object = YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise InputFileError(f"{where}: not YAML: {error.problem}") from None
    except YAMLError as error:
        raise InputFileError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise InputFileError(f"{path}: nested too deeply for a list of rules") from None
    try:
        return TypeAdapter(Rules).validate_python([] if document is None else document)
    except ValidationError as error:
        raise _unfit(str(path), error, Rules) from None


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


def _unfit(where: str, error: ValidationError, root: object) -> InputFileError:
    first, *others = problems(error, root)
    more = f" (and {len(others)} more)" if others else ""
    return InputFileError(f"{where}: {first}{more}")
