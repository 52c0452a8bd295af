"""What a person writes for a fault: a file, the name of a scenario, or YAML on the command line.

a file           a rule, a list of rules, or a scenario (its `mock.rules`)
a scenario       by its name: its rules, each for the whole time, as there is no traffic to know a share of
YAML             `name: x, do: {status: 504}`; the braces around it may be left out
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from devkit.debug.mock_faults import Document
from devkit.errors import InvalidFileError, Problem, UsageError
from devkit.scenario.load import SUFFIX
from devkit.scenario.rule_window import WINDOW
from located_config.yaml_file import UnfitError, parse_yaml, read_yaml

_EXAMPLE = "write 'do: {status: 504}', with name and when if you like"


def read_faults(text: str, scenarios: Path) -> list[Document]:
    """The rules in what was written. Raises UsageError, or InvalidFileError with the place in a file."""
    path = Path(text)
    if _is_file(path):
        return _rules(_content(path), text)
    named = scenarios / f"{text}{SUFFIX}"
    if "/" not in text and _is_file(named):
        return _rules(_content(named), text)
    if ":" not in text:
        near = ", ".join(sorted(known.stem for known in scenarios.glob(f"*{SUFFIX}"))) or "none"
        raise UsageError(
            f"{text!r} is neither a file, nor a scenario, nor a fault", hint=f"{_EXAMPLE}; scenarios: {near}"
        )
    return _rules(_parsed(text if text.lstrip()[:1] in ("{", "[") or "\n" in text else f"{{{text}}}"), text)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False  # too long for a name: it is YAML


def _content(path: Path) -> Any:
    try:
        return read_yaml(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnfitError as error:
        raise InvalidFileError(path, [Problem(error.line, error.column, str(error))]) from error


def _parsed(text: str) -> Any:
    try:
        return parse_yaml(text)
    except UnfitError as error:
        raise UsageError(f"{error}, in {text}", hint=_EXAMPLE) from error


def _without_window(rule: Any) -> Any:
    return {key: value for key, value in rule.items() if key not in WINDOW} if isinstance(rule, Mapping) else rule


def _rules(document: Any, where: str) -> list[Document]:
    rules = document
    if isinstance(document, Mapping) and isinstance(document.get("mock"), Mapping):
        rules = document["mock"].get("rules")
        if isinstance(rules, list):
            rules = [_without_window(rule) for rule in rules]
    elif isinstance(document, Mapping):
        rules = document.get("rules", [document])
    if not isinstance(rules, list) or not rules or not all(isinstance(rule, Mapping) for rule in rules):
        raise UsageError(f"there is no fault in {where}", hint=_EXAMPLE)
    return rules
