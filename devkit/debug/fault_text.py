"""What a person writes for a fault: a file, the name of a scenario, or YAML on the command line.

a file           a rule, a list of rules, or a scenario (its `mock.rules`)
a scenario       by its name: its rules
YAML             `name: x, do: {status: 504}`; the braces around it may be left out
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from devkit.debug.faults import Document
from devkit.errors import InvalidFileError, Problem, UsageError
from devkit.scenario.load import SUFFIX

_EXAMPLE = "write 'do: {status: 504}', with name and when if you like"


def read_faults(text: str, scenarios: Path) -> list[Document]:
    """The rules in what was written. Raises UsageError, or InvalidFileError with the place in a file."""
    path = Path(text)
    if _is_file(path):
        return _rules(_parsed(_content(path), path), text)
    named = scenarios / f"{text}{SUFFIX}"
    if "/" not in text and _is_file(named):
        return _rules(_parsed(_content(named), named), text)
    if ":" not in text:
        near = ", ".join(sorted(known.stem for known in scenarios.glob(f"*{SUFFIX}"))) or "none"
        raise UsageError(
            f"{text!r} is neither a file, nor a scenario, nor a fault", hint=f"{_EXAMPLE}; scenarios: {near}"
        )
    return _rules(_parsed(text if text.lstrip()[:1] in ("{", "[") or "\n" in text else f"{{{text}}}", None), text)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False  # too long for a name: it is YAML


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def _parsed(text: str, path: Path | None) -> Any:
    try:
        return YAML(typ="safe", pure=True).load(text)
    except (YAMLError, RecursionError) as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        said = (error.problem if isinstance(error, MarkedYAMLError) else None) or " ".join(str(error).split())
        if path is not None:
            line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            raise InvalidFileError(path, [Problem(line, column, f"not YAML: {said}")]) from error
        raise UsageError(f"not YAML: {said}, in {text}", hint=_EXAMPLE) from error


def _rules(document: Any, where: str) -> list[Document]:
    found = document
    if isinstance(document, Mapping) and isinstance(document.get("mock"), Mapping):
        found = document["mock"].get("rules")
    elif isinstance(document, Mapping):
        found = document.get("rules", [document])
    if not isinstance(found, list) or not found or not all(isinstance(rule, Mapping) for rule in found):
        raise UsageError(f"there is no fault in {where}", hint=_EXAMPLE)
    return found
