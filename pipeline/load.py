"""Reading a configuration file: YAML into the model, with errors that name file, line, value and near miss."""

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from pipeline.config import PipelineConfig
from pipeline.errors import RefusedError


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
        problems = [f"{path}:{_line(document, detail['loc'])}: {_describe(detail)}" for detail in error.errors()]
        raise RefusedError("\n".join(problems)) from error


def _describe(detail: ErrorDetails) -> str:
    place = ".".join(str(step) for step in detail["loc"]) or "(top)"
    if detail["type"] == "extra_forbidden":
        return f"{place}: unknown key; {_remedy(str(detail['loc'][-1]), detail['loc'][:-1])}"
    return f"{place}: {detail['msg']} (got {str(detail['input'])[:80]!r})"


def _remedy(key: str, section: tuple[int | str, ...]) -> str:
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
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _every_key(field.annotation, f"{path}{key}.")


def _keys_at(location: tuple[int | str, ...]) -> list[str]:
    model: type[BaseModel] = PipelineConfig
    for step in location:
        for name, field in model.model_fields.items():
            if step in (name, field.alias) and isinstance(field.annotation, type):
                model = field.annotation
    return [field.alias or name for name, field in model.model_fields.items()]


def _line(document: Any, location: tuple[int | str, ...]) -> int:
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
