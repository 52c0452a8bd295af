"""Keys of nested mappings as dotted paths, and the places at which several mappings differ."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from located_config.place import Location


def keys_of(settings: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """All keys as dotted paths, those of sections too."""
    for key, value in settings.items():
        dotted = f"{path}.{key}" if path else key
        yield dotted
        if isinstance(value, Mapping):
            yield from keys_of(value, dotted)


def differences(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Where not all are alike, by the dotted path: down to single values where all have a mapping."""
    return dict(sorted((".".join(map(str, place)), values) for place, values in differing(settings)))


def differing(
    values: Mapping[str, Any],
    place: Location = (),
    *,
    missing: Any = None,
    is_open: Callable[[Any], bool] = lambda value: isinstance(value, Mapping),
) -> Iterator[tuple[Location, dict[str, Any]]]:
    """Each place at which not all are alike, with the values there, in the order in which keys appear.

    A place is looked into where some have a mapping and all others are `is_open`, by default only a mapping is; what
    has no such key has `missing` there. A mapping against a single value is one difference.
    """
    first, *others = values.values()
    if all(value == first for value in others):
        return
    keys = dict.fromkeys(chain.from_iterable(value for value in values.values() if isinstance(value, Mapping)))
    if not keys or not all(map(is_open, values.values())):
        yield place, dict(values)
        return
    for key in keys:
        inside = {
            name: value.get(key, missing) if isinstance(value, Mapping) else missing for name, value in values.items()
        }
        yield from differing(inside, (*place, key), missing=missing, is_open=is_open)
