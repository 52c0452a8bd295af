"""Where values differ, as what arms run with and what a file writes of them are compared: down to single values."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from located_config.place import Location


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
    found = list(values.values())
    if all(one == found[0] for one in found):
        return
    keys = dict.fromkeys(chain.from_iterable(one for one in found if isinstance(one, Mapping)))
    if not keys or not all(is_open(one) for one in found):
        yield place, dict(values)
        return
    for key in keys:
        inside = {name: one.get(key, missing) if isinstance(one, Mapping) else missing for name, one in values.items()}
        yield from differing(inside, (*place, key), missing=missing, is_open=is_open)
