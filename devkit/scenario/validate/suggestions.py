"""Where a key belongs that stands in a section which does not know it: `deadline` is one of `until`.

Also a fault: what the mock does stands in `do` of a rule, what is done to a part in `do` of the timeline.
"""

from collections.abc import Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from devkit.faults.registry import FAULTS
from devkit.scenario.end_condition import Condition
from devkit.scenario.model import Scenario
from located_config.model_keys import fields_of
from located_config.place import Location
from pipeline.config.pipeline_config import PipelineConfig

_MOST_PLACES = 3
"""A key of more sections than that, such as `of`, says nothing of which was meant."""
_TOP = "the top of the file"
_ELSEWHERE = ("arms.NAME.steps", "until.all")
"""A step has keys of the top and of `until`, and is seldom what was meant; `until.all` has those of `until.any`."""
_OF_ARMS = "`pipeline`, or of one arm under `arms`"
_EXPECTED = "`expect.incident` or `expect.fixed`"


def belongs(location: Location) -> str | None:
    """What to say of the unknown key at a location; None where no other section has it."""
    *_, key = location
    if location[:2] == ("mock", "rules") and "do" in location and key in FAULTS:
        return f"{key!r} is a fault on a part; it belongs into `do` under `timeline`, with `at` or `when`"
    if location == ("faults",):
        return "did you mean `timeline` (faults on parts) or `mock.rules` (faults of the wiki)?"
    if key == "kafka" and location[0] in ("pipeline", "arms"):
        return "what the pipeline asks of Kafka is under `source` and `sink` here, brokers under `kafka` at the top"
    if location[:-1] == ("until",) and key in fields_of(Condition):
        return f"write any: [{{ {key}: {'true' if key == 'drained' else '…'} }}]"
    places = list(dict.fromkeys(place for place, known in _keys() if known == key))
    if not places or len(places) > _MOST_PLACES:
        return None
    return f"it belongs {'at' if places[0] == _TOP else 'under'} {' or '.join(places)}"


def _keys() -> Iterator[tuple[str, str]]:
    """Each key with its section, as people write the way to it."""
    for section, key in _walk_keys(Scenario, ""):
        if section.startswith(_ELSEWHERE):
            continue
        if not section.startswith("expect."):
            yield f"`{section}`" if section else _TOP, key
        elif section.endswith("[]"):
            yield _EXPECTED, key
    for section, key in _walk_keys(PipelineConfig, ""):
        yield f"`pipeline.{section}`" if section else _OF_ARMS, key


def _walk_keys(annotation: Any, section: str, above: tuple[type[BaseModel], ...] = ()) -> Iterator[tuple[str, str]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation in above:
            return
        for key, inner in fields_of(annotation).items():
            yield section, key
            yield from _walk_keys(inner, f"{section}.{key}" if section else key, (*above, annotation))
        return
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is dict:
        yield from _walk_keys(arguments[1], f"{section}.NAME", above)
    elif origin in (tuple, list):
        yield from _walk_keys(arguments[0], f"{section}[]", above)
    elif origin in (Union, UnionType) or hasattr(annotation, "__metadata__"):
        for member in arguments:
            yield from _walk_keys(member, section, above)
