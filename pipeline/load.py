"""Reading a configuration file: YAML into the model, with errors that name file, line, value and near miss."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from pipeline.config import PipelineConfig
from pipeline.errors import RefusedError

_Steps = tuple[int | str, ...]


def load_config(path: Path) -> PipelineConfig:
    """The configuration in a file. Raises RefusedError with one line for each problem."""
    try:
        document = YAML(typ="rt").load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RefusedError(f"{path}: cannot be read: {error.strerror}") from error
    except MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else f"{path}"
        raise RefusedError(f"{place}: not YAML: {error.problem}") from error
    except (YAMLError, UnicodeDecodeError) as error:
        raise RefusedError(f"{path}: not YAML: {error}") from error
    except RecursionError as error:
        raise RefusedError(f"{path}: nested too deeply for a configuration") from error
    try:
        return PipelineConfig.model_validate(document)
    except RecursionError as error:
        raise RefusedError(f"{path}: nested too deeply for a configuration") from error
    except ValidationError as error:
        raise RefusedError("\n".join(f"{path}:{problem}" for problem in _problems(document, error))) from error


def _problems(document: Any, error: ValidationError) -> Iterator[str]:
    for detail in error.errors():
        steps = _steps(detail["loc"])
        # Who writes a section or a list means the other member of the union, which has an error of its own.
        if detail["type"] == "literal_error" and steps != detail["loc"] and isinstance(detail["input"], Mapping | list):
            continue
        if detail["type"] == "value_error" and isinstance(detail["input"], Mapping):
            steps = _named(document, detail["msg"]) or steps
        yield f"{_line(document, steps)}: {_describe(detail, steps)}"


def _describe(detail: ErrorDetails, steps: _Steps) -> str:
    place = ".".join(str(step) for step in steps) or "(top)"
    if detail["type"] == "extra_forbidden":
        return f"{place}: unknown key; {_remedy(str(steps[-1]), steps[:-1])}"
    context = detail.get("ctx") or {}
    said = f"{place}: {context.get('problem', detail['msg'])}"
    if isinstance(detail["input"], Mapping):
        return said
    hint = context.get("hint")
    return f"{said} (got {repr(detail['input'])[:80]})" + (f"; {hint}" if hint else "")


def _named(document: Any, message: str) -> _Steps:
    """What a check of several keys is about: the first of those it names that stands in the document."""
    every = {path for path, _ in _every_key(PipelineConfig)}
    named = [tuple(word.split(".")) for word in re.findall(r"[a-z_]+(?:\.[a-z_]+)*", message) if word in every]
    return next((steps for steps in named if _holds(document, steps)), named[0] if named else ())


def _holds(document: Any, steps: _Steps) -> bool:
    for step in steps:
        if not isinstance(document, Mapping) or step not in document:
            return False
        document = document[step]
    return True


def _steps(location: _Steps) -> _Steps:
    """A location in the document: without the names that pydantic gives the members of a union."""
    found: list[int | str] = []
    within: Any = PipelineConfig
    for step in location:
        members = _members(within)
        if len(members) > 1:
            within = next((member for member in members if getattr(member, "__name__", None) == step), None)
            continue
        found.append(step)
        within = _field(_models(within), step)
    return tuple(found)


def _members(annotation: Any) -> tuple[Any, ...]:
    """Those of a union but for None, or the type itself."""
    if get_origin(annotation) in (Union, UnionType):
        return tuple(member for member in get_args(annotation) if member is not NoneType)
    return (annotation,)


def _models(annotation: Any) -> list[type[BaseModel]]:
    return [one for one in _members(annotation) if isinstance(one, type) and issubclass(one, BaseModel)]


def _field(models: list[type[BaseModel]], key: int | str) -> Any:
    """The type of a key, None where no model knows it."""
    fields = [(name, field) for model in models for name, field in model.model_fields.items()]
    return next((field.annotation for name, field in fields if key in (name, field.alias)), None)


def _remedy(key: str, section: _Steps) -> str:
    """The near miss in the same section; else where the key belongs; else what the section knows."""
    known = _keys_at(section)
    if near := get_close_matches(key, known, n=1):
        return f"did you mean {near[0]!r}?"
    if key.startswith("spark."):
        return "it is Spark's, and belongs into spark-defaults.conf"
    every = dict(_every_key(PipelineConfig))
    places = [place for place, name in every.items() if name == key]
    if not places and (near := get_close_matches(key, every.values(), n=1)):
        places = [place for place, name in every.items() if name == near[0]]
    return f"it belongs to {' or '.join(places)}" if places else f"known: {', '.join(known)}"


def _every_key(model: type[BaseModel], path: str = "") -> Iterator[tuple[str, str]]:
    """Each key of the model as a dotted path, and its name."""
    for name, field in model.model_fields.items():
        key = field.alias or name
        yield f"{path}{key}", key
        for inner in _models(field.annotation):
            yield from _every_key(inner, f"{path}{key}.")


def _keys_at(location: _Steps) -> list[str]:
    models: list[type[BaseModel]] = [PipelineConfig]
    for step in location:
        models = _models(_field(models, step))
    return [field.alias or name for model in models for name, field in model.model_fields.items()]


def _line(document: Any, location: _Steps) -> int:
    """The line, from 1, of the innermost part of the document that the location reaches."""
    line = 1
    for step in location:
        if not isinstance(document, CommentedMap | CommentedSeq) or (
            step not in document if isinstance(document, CommentedMap) else not isinstance(step, int)
        ):
            break
        position = document.lc.key(step) if isinstance(document, CommentedMap) else document.lc.item(step)
        line = position[0] + 1
        document = document[step]
    return line
