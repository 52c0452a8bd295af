"""Reading a configuration file: YAML into the model, with errors that name file, line, value and near miss."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from located_config.model_keys import fields_of, known_keys, models_at
from located_config.near import RENAMED, nearest
from located_config.place import Location, position, reaches
from located_config.problem import Problem, described, without_echoes
from located_config.yaml_file import UnfitError, read_yaml
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import RefusedError

M = TypeVar("M", bound=BaseModel)
# Of all keys of all sections, some are always a little alike.
_LIKE_ELSEWHERE = 0.8
# The sections that every scenario has.
_OF_SCENARIO = frozenset({"traffic", "arms", "expect"})


def load_config(path: Path) -> PipelineConfig:
    """The configuration of a job in a file. Raises RefusedError with one line for each problem."""
    return load_model(path, PipelineConfig)


def load_model(path: Path, model: type[M]) -> M:
    """The configuration in a file, as `model` declares it. Raises RefusedError with one line for each problem."""
    try:
        document = read_yaml(path)
        return model.model_validate(document)
    except OSError as error:
        raise RefusedError(f"{path}: cannot be read: {error.strerror}") from error
    except UnfitError as error:
        raise RefusedError(f"{path}:{error.line}:{error.column}: {error}") from error
    except RecursionError as error:
        raise RefusedError(f"{path}: nested too deeply for a configuration") from error
    except ValidationError as error:
        if _is_scenario(document):
            raise RefusedError(
                f"{path}: this is a scenario of the kit, not a configuration",
                hint="give the configuration file; `devkit scenario check` checks a scenario",
            ) from error
        problems = [_problem(model, document, detail) for detail in without_echoes(error, model)]
        placed = sorted((*position(document, problem.location), str(problem)) for problem in problems)
        raise RefusedError("\n".join(f"{path}:{line}:{column}: {text}" for line, column, text in placed)) from error


def _is_scenario(document: Any) -> bool:
    return isinstance(document, Mapping) and document.keys() >= _OF_SCENARIO


def _problem(model: type[BaseModel], document: Any, detail: ErrorDetails) -> Problem:
    problem = described(detail, model, document)
    location = detail["loc"][:-1]
    if detail["type"] == "extra_forbidden" and (remedy := _elsewhere(model, str(detail["loc"][-1]), location)):
        return replace(problem, remedy=remedy)
    if detail["type"] == "value_error" and isinstance(detail["input"], Mapping):
        return replace(problem, location=_named(model, document, detail["msg"]) or problem.location)
    return problem


def _named(model: type[BaseModel], document: Any, message: str) -> Location:
    """The key that a check of several keys is about: the first one in its message that is in the document."""
    every = {path for path, _ in _every_key(model)}
    named_keys = [tuple(word.split(".")) for word in re.findall(r"[a-z_]+(?:\.[a-z_]+)*", message) if word in every]
    return next(
        (steps for steps in named_keys if reaches(document, steps) == len(steps)), named_keys[0] if named_keys else ()
    )


def _elsewhere(model: type[BaseModel], key: str, section: Location) -> str | None:
    """The section to which a misplaced key belongs; None when that is not clear."""
    every, known = dict(_every_key(model)), known_keys(model, section)
    renamed = RENAMED.get(key)
    if nearest(key, known) and (renamed in known or renamed not in every.values()):
        return None
    if key.startswith("spark."):
        return "it is Spark's, and belongs into spark-defaults.conf"
    meant = key if key in every.values() else nearest(key, every.values(), like=_LIKE_ELSEWHERE)
    places = [place for place, name in every.items() if name == meant]
    return f"it belongs to {' or '.join(places)}" if places else None


def _every_key(model: type[BaseModel], path: str = "") -> Iterator[tuple[str, str]]:
    """Each key of the model as a dotted path, and its name."""
    for key in fields_of(model):
        yield f"{path}{key}", key
        for inner in models_at(model, (key,)):
            yield from _every_key(inner, f"{path}{key}.")
