"""Reading YAML so that every value keeps its place, and an error in the YAML names its own."""

import re
import reprlib
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import ConstructorError, DuplicateKeyError, RoundTripConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import Node

from located_config.redaction import is_secret

_QUOTES = "write the value in quotes"
_SLIPS: Final = (
    (r"character '\\t'", "indent with spaces; YAML takes no tab there"),
    (r"character '[%@`]'", f"{_QUOTES}, as YAML has another use for its first character"),
    (r"undefined alias", f"`*` begins an alias in YAML; {_QUOTES}"),
    (r"expected alphabetic or numeric character", f"`*` and `&` begin names; {_QUOTES}"),
    (r"expected <block end>, but found '\?'", "perhaps a `- ` is missing before it, or it is indented otherwise"),
    (r"mapping values are not allowed", "a value with a colon and a space in it stands in quotes"),
)
"""What the parser says of the usual slips, and what to do about each."""
_SPACELESS: Final = re.compile(r"\s*(?:- )?([\w.-]+):([^\s:/].*)")
_BRACKETS: Final = {"while parsing a flow mapping": "{", "while parsing a flow sequence": "["}
_TELLS_OF_SPACELESS: Final = re.compile(r"mapping values are not allowed|could not find expected ':'")


class UnfitError(Exception):
    """Text that is no YAML, or not what was asked for; line and column count from 1."""

    def __init__(self, text: str, line: int = 1, column: int = 1) -> None:
        super().__init__(text)
        self.line = line
        self.column = column


class _Constructor(RoundTripConstructor):
    """Gives the place of a scalar that is not what it looks like, as the date 2026-02-30, and of what is no text."""

    def construct_object(self, node: Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep=deep)
            if isinstance(value, str):
                value.encode()  # "\ud800" is half a character, which cannot be written or sent
        except ValueError as error:
            problem = f"{reprlib.repr(node.value)} cannot be read: {error}"
            raise ConstructorError(None, None, problem, node.start_mark) from error
        return value

    def check_mapping_key(self, node: Node, key_node: Node, mapping: Any, key: Any, value: Any) -> bool:
        """Of a key that stands there twice ruamel shows both values, with all that is below them."""
        if key in mapping and (is_secret(str(key)) or _has_parts(value) or _has_parts(mapping[key])):
            raise DuplicateKeyError(
                "while constructing a mapping", node.start_mark, f'found duplicate key "{key}"', key_node.start_mark
            )
        return bool(super().check_mapping_key(node, key_node, mapping, key, value))


def _has_parts(value: Any) -> bool:
    return isinstance(value, dict | list | set)


def parse_yaml(text: str) -> Any:
    """The document, which `located_config.place.position` knows. Raises UnfitError."""
    try:
        yaml = YAML(typ="rt")
        yaml.Constructor = _Constructor
        return yaml.load(text)
    except MarkedYAMLError as error:
        problem = _one_line(error.problem or "cannot be parsed")
        mark = error.problem_mark or error.context_mark
        if "end of stream" in problem and error.context_mark:  # the end of the file is not what has to change
            mark, problem = error.context_mark, "the quote that is opened here is never closed"
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        remedy = _remedy(problem, text, line) or _unclosed(error)
        raise UnfitError(f"not YAML: {problem}{remedy}", line, column) from error
    except YAMLError as error:
        raise UnfitError(f"not YAML: {_one_line(str(error))}") from error
    except RecursionError as error:
        raise UnfitError("not YAML that can be read: nested too deeply") from error


def read_yaml(path: Path) -> Any:
    """The document in a file. Raises UnfitError, or OSError when the file cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UnfitError(f"not UTF-8 text: {error.reason} at byte {error.start}") from error
    return parse_yaml(text)


def read_mapping(path: Path) -> CommentedMap:
    """The mapping in a file. Raises UnfitError, or OSError when the file cannot be read."""
    document = read_yaml(path)
    if not isinstance(document, CommentedMap):
        kind = "empty" if document is None else "a list" if isinstance(document, CommentedSeq) else "a single value"
        raise UnfitError(f"the file is {kind}; it must be a mapping of keys to values")
    return document


def _remedy(problem: str, text: str, line: int) -> str:
    """The parser notices a missing space in the line behind."""
    before = text.splitlines()[max(0, line - 3) : line - 1] if _TELLS_OF_SPACELESS.search(problem) else []
    for number, one in enumerate(reversed(before)):
        if written := _SPACELESS.fullmatch(one):
            return f"; write a space behind the colon in line {line - 1 - number}: `{written[1]}: {written[2]}`"
    return next((f"; {remedy}" for pattern, remedy in _SLIPS if re.search(pattern, problem)), "")


def _unclosed(error: MarkedYAMLError) -> str:
    """Where a bracket was opened, if the parser missed its end in a later line."""
    opened, noticed = error.context_mark, error.problem_mark
    bracket = _BRACKETS.get(error.context or "")
    if bracket is None or opened is None or noticed is None or opened.line == noticed.line:
        return ""
    return f"; the `{bracket}` of line {opened.line + 1}, column {opened.column + 1} is not closed before that"


def _one_line(text: str) -> str:
    # The name of an alias is a value, a password perhaps, that was meant to begin with `*`.
    return " ".join(re.sub(r"(undefined alias) .*", r"\1", text).split())
