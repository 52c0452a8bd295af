"""Makes everything of a model slower alike: each duration multiplied, each rate divided by a number.

What a field is, its type says: a `timedelta` is a duration, and what is a number per second is marked `PER_SECOND`, as
`located_config.rate.Rate` is. Sizes, counts, shares and names stay. Defaults count: a duration that was not written is
stretched, and is written then, where it has an effect: a model does not show the others. A model with values that its
types do not describe has a method `slower`.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Protocol, Self, TypeVar, get_args, runtime_checkable

from pydantic import BaseModel

from located_config.rate import PerSecond

M = TypeVar("M", bound=BaseModel)


@runtime_checkable
class SlowedByItself(Protocol):
    """A model that knows itself how it is stretched."""

    def slower(self, by: int) -> Self:
        """The same object where nothing in it changes."""


def stretched(model: M, by: int) -> M:
    """The model, checked again. Raises pydantic's ValidationError where a stretched value is beyond its bounds, and
    OverflowError where none can be that long.
    """
    slower: M = model if by == 1 else _value(model, by, is_rate=False)
    return slower


def _model(model: M, by: int) -> M:
    """The same object where nothing in it changes."""
    kind, changes = type(model), {}
    shown = model.model_dump()
    for name, field in kind.model_fields.items():
        if isinstance(shown, Mapping) and name not in shown:
            continue  # without effect beside its other keys, and perhaps refused when it is written
        value = getattr(model, name)
        is_rate = any(isinstance(mark, PerSecond) for mark in (*field.metadata, *_marks(field.annotation)))
        changed = _value(value, by, is_rate=is_rate)
        if changed is not value:
            changes[name] = changed
    if not changes:
        return model
    # What is not shown may not be written beside the others, though the model has set it itself.
    kept = [name for name in model.model_fields_set if not isinstance(shown, Mapping) or name in shown]
    values = {name: getattr(model, name) for name in kept} | changes
    # A model that takes any key has set fields that its class does not name.
    aliases = {name: field.alias for name, field in kind.model_fields.items() if field.alias}
    return kind.model_validate({aliases.get(name, name): value for name, value in values.items()})


def _value(value: Any, by: int, *, is_rate: bool) -> Any:
    """The same object where nothing in it changes."""
    if isinstance(value, SlowedByItself):
        return value.slower(by)
    if isinstance(value, BaseModel):
        return _model(value, by)
    if isinstance(value, timedelta):
        return value * by if value else value
    if isinstance(value, Mapping):
        items = {key: _value(item, by, is_rate=is_rate) for key, item in value.items()}
        return items if any(items[key] is not item for key, item in value.items()) else value
    if isinstance(value, tuple | list):
        elements = [_value(item, by, is_rate=is_rate) for item in value]
        return type(value)(elements) if any(new is not old for new, old in zip(elements, value, strict=True)) else value
    if is_rate and isinstance(value, int) and not isinstance(value, bool):
        return max(1, round(value / by))
    if is_rate and isinstance(value, float):
        return f"{value / by!r}/s"  # as it is written: a bare number is no rate
    return value


def _marks(annotation: Any) -> Iterator[object]:
    """The marks on the parts of a type, without those inside models."""
    yield from getattr(annotation, "__metadata__", ())
    for part in get_args(annotation):
        yield from _marks(part)
