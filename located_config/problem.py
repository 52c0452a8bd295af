"""A failed validation as places that a person can go to: where, what is wrong, and what to do about it.

    ValidationError ──> Problem(("rules", 0, "do", "siez"), "unknown key", "did you mean 'size'?")

Validators give a remedy of their own as `hint` in the context of a PydanticCustomError.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from located_config.flow import flow
from located_config.model_keys import example_at, in_document, known_keys
from located_config.near import near_miss, nearest
from located_config.place import Location, reaches, shown
from located_config.redaction import is_secret

_SHOWN = 60
_MISSPELT = 0.85
"""How much an unknown key has to be like a known one to be a slip in it, and no key of another section."""
_DESCRIBED = "described"
_SPACELESS = re.compile(r"(\w+):(\S+)")
_KEY = re.compile(r"[a-z_]+(?:\.[a-z_]+)*")
# Pydantic's words for these speak of Python.
_PLAIN = {
    "missing": "is missing",
    "model_type": "must be a mapping of keys to values",
    "model_attributes_type": "must be a mapping of keys to values",
    "dict_type": "must be a mapping of keys to values",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "string_type": "must be text",
}

Elsewhere = Callable[[Location], str | None]
"""Of a key that is unknown where it stands: where it belongs, if another section knows it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input."""

    location: Location
    text: str
    remedy: str | None = None

    @property
    def message(self) -> str:
        """What is wrong and what to do, without the place."""
        return self.text + (f"; {self.remedy}" if self.remedy else "")

    def __str__(self) -> str:
        return f"{shown(self.location) or '(top)'}: {self.message}"


def problems(
    error: ValidationError, root: Any, document: Any = None, elsewhere: Elsewhere | None = None
) -> list[Problem]:
    """The problems of `error`, which arose from validating a document as `root`: a model, or a type of models.

    Unknown keys come first.
    """
    found = without_echoes(error, root)
    found.sort(key=lambda detail: detail["type"] != "extra_forbidden")
    return [described(detail, root, document, elsewhere=elsewhere) for detail in found]


def in_line(error: ValidationError, root: Any, document: Any = None) -> str:
    """All problems of `error`, each with its place below the top, for an input that people do not write by hand."""
    found = problems(error, root, document)
    return "; ".join(str(problem) if problem.location else problem.message for problem in found)


def described(
    detail: ErrorDetails,
    root: Any,
    document: Any = None,
    location: Location | None = None,
    elsewhere: Elsewhere | None = None,
) -> Problem:
    """One of pydantic's errors in plain words; `location` is where the document has it, by default its own."""
    below = (detail.get("ctx") or {}).get("below", ())
    if location is None:
        location = (*in_document(document, root, detail["loc"]), *below)
    place = (*location, *key_in_message(detail, document, location))
    if detail["type"] == "extra_forbidden":
        known = known_keys(root, detail["loc"][:-1])
        return Problem(place, "unknown key", _of_unknown_key(place, str(detail["loc"][-1]), known, elsewhere))
    if any(is_secret(str(step)) for step in location):
        return Problem(place, _PLAIN.get(detail["type"], "is not valid, and not shown as it is a secret"))
    context = detail.get("ctx") or {}
    text = str(context.get("problem") or _PLAIN.get(detail["type"]) or _message(detail, context))
    remedy = _of_bare_key(detail, known_keys(root, detail["loc"])) or _remedy(detail, context) or _shape(detail, root)
    return Problem(place, text + _got(detail, text), remedy)


def key_in_message(detail: ErrorDetails, document: Any, location: Location) -> Location:
    """Of what is wrong between several keys of a mapping: the first that the message names and the mapping has."""
    if detail["type"] != "value_error" or not isinstance(detail["input"], Mapping | BaseModel):
        return ()
    for word in _KEY.findall(detail["msg"]):
        key: Location = tuple(word.split("."))
        if reaches(document, (*location, *key)) == len(location) + len(key):
            return key
    return ()


def as_error(problem: Problem) -> PydanticCustomError:
    """For a validator that validates a part by itself: the problem below, which `described` leaves as it is."""
    return PydanticCustomError(
        _DESCRIBED, "{message}", {"message": problem.message, "problem": problem.text, "hint": problem.remedy}
    )


def without_echoes(error: ValidationError, root: Any) -> list[ErrorDetails]:
    """The details that say something of their own. A missing key that is there under a misspelt name does not."""
    details = [detail for detail in error.errors(include_url=False) if not is_echo(detail)]
    misspelt = {
        (*section, meant)
        for *section, key in (detail["loc"] for detail in details if detail["type"] == "extra_forbidden")
        if (meant := nearest(str(key), known_keys(root, tuple(section))))
    }
    return [detail for detail in details if detail["type"] != "missing" or detail["loc"] not in misspelt]


def is_echo(detail: ErrorDetails) -> bool:
    """Whether an error only repeats another: a list that is too short for what is wrong in it, or a section or quantity
    that is not the word which might stand in its place.
    """
    if detail["type"] == "too_short":
        return bool(len(detail["input"]) >= (detail.get("ctx") or {})["min_length"])
    inside = detail["loc"] and str(detail["loc"][-1]).startswith("literal[")
    return detail["type"] == "literal_error" and bool(inside) and not _is_word(detail["input"])


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and not value[:1].isdigit()


def _of_unknown_key(place: Location, key: str, known: list[str], elsewhere: Elsewhere | None) -> str:
    """What to do about it: a slip in the key itself before one in its place."""
    if (written := _SPACELESS.fullmatch(key)) and written[1] in known:
        return f"write a space behind the colon: `{written[1]}: {written[2]}`"
    if nearest(key, known, like=_MISSPELT) is None and elsewhere and (belongs := elsewhere(place)):
        return belongs
    return near_miss(key, known)


def _of_bare_key(detail: ErrorDetails, known: list[str]) -> str | None:
    """`- drained`, where a mapping has to stand: the key of one, without its value."""
    value = detail["input"]
    is_key = detail["type"] == "model_type" and isinstance(value, str) and value in known
    return f"write `{value}: …`, with its value behind the colon" if is_key else None


def _shape(detail: ErrorDetails, root: Any) -> str | None:
    """How a mapping looks, or a text of some pattern, that has to stand where something else does."""
    shape = {"model_type": Mapping, "string_pattern_mismatch": str}.get(detail["type"])
    if shape is None or not detail["loc"]:
        return None
    example = example_at(root, detail["loc"])
    return f"write for example `{detail['loc'][-1]}: {flow(example)}`" if isinstance(example, shape) else None


def _message(detail: ErrorDetails, context: Mapping[str, Any]) -> str:
    if detail["type"] == "too_short":
        return "must not be empty" if context["min_length"] == 1 else f"must have at least {context['min_length']}"
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "literal_error":
        message = message.replace("True", "true").replace("False", "false")
    if detail["type"] == "value_error":
        return message
    return (
        (message[:1].lower() + message[1:])
        .replace("input should be", "must be")
        .replace("string should match pattern", "must match")
    )


def _got(detail: ErrorDetails, text: str) -> str:
    """The value as YAML would write it, unless the text has it already; mappings and lists are to
    be seen in the input.
    """
    value = detail["input"]
    if detail["type"] in ("missing", "json_invalid", _DESCRIBED):
        return ""
    if value is None:
        return " (it is empty)"
    if isinstance(value, Mapping | list | tuple):
        kind = "a mapping" if isinstance(value, Mapping) else "a list"
        return f" (got {kind})" if detail["type"].endswith("_type") else ""
    if not isinstance(value, str | int | float):
        return ""
    written = str(value).lower() if isinstance(value, bool) else repr(value)
    if repr(value) in text and (isinstance(value, str) or detail["type"] == "value_error"):
        return ""
    return f" (got {written if len(written) <= _SHOWN else written[:_SHOWN] + '…'})"


def _remedy(detail: ErrorDetails, context: Mapping[str, Any]) -> str | None:
    if hint := context.get("hint"):
        return str(hint)
    value = detail["input"]
    if detail["type"] == "string_type" and isinstance(value, int | float):
        return "write it in quotes"
    if detail["type"] in ("tuple_type", "list_type") and value is not None:
        return f"write [{value}]" if isinstance(value, str) else "write it in brackets, [ ], or each item behind `- `"
    if detail["type"] == "literal_error":
        known = re.findall(r"'([^']*)'", str(context.get("expected", "")))
        if near := nearest(str(value), known):
            return f"did you mean {near!r}?"
        only = known[0] if len(known) == 1 else {"True": "true", "False": "false"}.get(str(context.get("expected")))
        return f"write {only}" if only else None
    return None
