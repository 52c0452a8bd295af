"""Turns a failed validation into places a person can go to: path, problem, hint.

    ValidationError ──> Problem("rules[0].do.body.siez", "unknown key", "did you mean 'size'? allowed: size, …")

For an unknown key the allowed ones are read off the model that stands at that place; hence the models have no unions
of models: a short form (`status: 504`) is spelled out by a validator before it is checked.
"""

import difflib
import re
import typing
from collections.abc import Iterable
from dataclasses import dataclass
from types import UnionType

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

_SHOWN_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input: `path` is like `rules[0].do.status`, `hint` says what to do if that is known."""

    path: str
    problem: str
    hint: str | None = None

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}{self.problem}" + (f"; {self.hint}" if self.hint else "")


def near_miss(name: str, allowed: Iterable[str]) -> str:
    """`did you mean 'size'? allowed: …`; without the question when nothing is near."""
    known = list(allowed)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    question = f"did you mean {close[0]!r}? " if close else ""
    return f"{question}allowed: {', '.join(known) or 'none'}"


def problems(error: ValidationError, root: object, *, prefix: str = "") -> list[Problem]:
    """The problems of `error`, which arose from validating a value as `root` (a model, or an annotation of models).

    Unknown keys come first: a key that is missing is most often one of them, misspelt.
    """
    found = sorted(error.errors(include_url=False), key=lambda details: details["type"] != "extra_forbidden")
    return [_problem(details, root, prefix) for details in found if not _follows(details, found)]


def _follows(details: ErrorDetails, found: list[ErrorDetails]) -> bool:
    """Whether a list is too short only for what is wrong in it."""
    loc = details["loc"]
    return details["type"] == "too_short" and any(
        len(other["loc"]) > len(loc) and other["loc"][: len(loc)] == loc for other in found
    )


def _problem(details: ErrorDetails, root: object, prefix: str) -> Problem:
    path = _path(details["loc"], prefix)
    context = details.get("ctx", {})
    match details["type"]:
        case "extra_forbidden":
            allowed = _keys_at(root, details["loc"][:-1])
            return Problem(path, "unknown key", near_miss(str(details["loc"][-1]), allowed))
        case "missing":
            return Problem(path, "missing", "add this key")
        case "json_invalid":
            return Problem(path, details["msg"], "send JSON")
        case "literal_error":
            expected = re.findall(r"'([^']*)'|\b(True|False|\d+)\b", str(context.get("expected", "")))
            allowed = [text or other.lower() for text, other in expected]
            return Problem(
                path, f"{_shown(details['input'])} is not allowed", near_miss(str(details["input"]), allowed)
            )
        case "too_short":
            return Problem(path, f"at least {context['min_length']} needed (got {_shown(details['input'])})")
        case "list_type" | "tuple_type":
            return Problem(path, f"input should be a list (got {_shown(details['input'])})")
        case "model_type" | "model_attributes_type" | "dict_type":
            return Problem(path, f"input should be an object (got {_shown(details['input'])})")
    message = context.get("problem") or details["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    hint = context.get("hint")
    return Problem(path, f"{message} (got {_shown(details['input'])})", str(hint) if hint else None)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"


def _path(loc: tuple[int | str, ...], prefix: str) -> str:
    path = prefix
    for step in loc:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


def _keys_at(root: object, loc: tuple[int | str, ...]) -> list[str]:
    """The keys of the model that stands at `loc` below `root`; empty when there is none."""
    model = _model_of(root)
    for step in loc:
        if isinstance(step, str) and model is not None and step in _fields(model):
            model = _model_of(_fields(model)[step].annotation)
    return list(_fields(model)) if model is not None else []


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields by the names under which they are written."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _model_of(annotation: object) -> type[BaseModel] | None:
    """The one model inside an annotation such as `tuple[Annotated[Rule, …], ...] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if typing.get_origin(annotation) is None and not isinstance(annotation, UnionType):
        return None
    found = (_model_of(argument) for argument in typing.get_args(annotation))
    return next((model for model in found if model is not None), None)
