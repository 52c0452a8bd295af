"""Which keys a model has at a place of a document, by the names under which they are written."""

import types
from collections.abc import Iterator
from itertools import chain
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from located_config.place import Location, reaches

_HOLDERS = (Union, types.UnionType, tuple, list, dict)


def known_keys(root: Any, location: Location) -> list[str]:
    """The keys of the models to which a location leads; `root` is a model, or a type with models in it."""
    return list(dict.fromkeys(key for model in models_at(root, location) for key in fields_of(model)))


def fields_of(model: type[BaseModel]) -> dict[str, Any]:
    """The type of each key."""
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def example_at(root: Any, location: Location) -> Any:
    """The first example of the field at a location; None where it has none."""
    fields = (model.model_fields.items() for model in models_at(root, location[:-1]))
    return next(
        (
            field.examples[0]
            for name, field in chain.from_iterable(fields)
            if (field.alias or name) == location[-1] and field.examples
        ),
        None,
    )


def models_at(root: Any, location: Location) -> list[type[BaseModel]]:
    """The models that may stand at a location below `root`: of a union all, of a list or mapping those of its items."""
    annotation = root
    for step in location:
        fields = (fields_of(model) for model in _models(annotation))
        annotation = next((known[step] for known in fields if step in known), annotation)
    return list(_models(annotation))


def in_document(document: Any, root: Any, location: Location) -> Location:
    """A location of pydantic's without the names it gives validators and the members of unions.

    A key of the document may look like one: `Mercury (planet)` is a page.
    """
    path: Location = ()
    for step in location:
        there = reaches(document, (*path, step)) == len(path) + 1
        if there or not _is_name_of_pydantic(step, root, path):
            path = (*path, step)
    return path


def _is_name_of_pydantic(step: int | str, root: Any, path: Location) -> bool:
    if not isinstance(step, str):
        return False
    return "[" in step or "(" in step or step in (model.__name__ for model in models_at(root, path))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in a type: itself, its union's, its items' or its values'."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in _HOLDERS or hasattr(annotation, "__metadata__"):
        for inner in get_args(annotation):
            yield from _models(getattr(inner, "json_schema_input_type", inner))  # what a validator says that it takes
