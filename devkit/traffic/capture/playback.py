"""`traffic: {from: capture.jsonl, rate: x2}`: what a capture makes of a scenario's traffic."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, ValidationError, WithJsonSchema
from pydantic_core import InitErrorDetails, PydanticCustomError

from devkit.errors import UsageError
from devkit.traffic.capture.id_map import MOST_REVISIONS
from devkit.traffic.capture.outline import Outline, outline_at
from located_config.quantity import NUMBER, QuantityError
from located_config.rate import RATE_PATTERN, parse_rate

KEYS = ("from", "rate", "seed", "wikis", "event_times")
"""What can be said of traffic that is played from a capture; the rest is in the capture."""

_AS_CAPTURED = "x1"
_TIMES = re.compile(rf"\s*x\s*({NUMBER})\s*")
_SHORTEST = timedelta(milliseconds=1)

RATE_OR_TIMES = {"type": "string", "pattern": rf"{RATE_PATTERN}|^\s*x\s*{NUMBER}\s*$"}


@dataclass(frozen=True)
class Playback:
    """A capture that is played: `even`ly, or in the intervals in which its events came."""

    path: Path
    even: bool

    @property
    def outline(self) -> Outline:
        """Raises UsageError, InvalidFileError where the file has changed for the worse since it was checked."""
        return outline_at(self.path)


def _is_playback(value: object) -> Playback:
    if isinstance(value, Playback):
        return value
    raise PydanticCustomError("capture", "must be the path of a capture", {"hint": "`devkit capture` makes one"})


FromCapture = Annotated[
    Playback,
    PlainValidator(_is_playback),
    PlainSerializer(lambda one: str(one.path), return_type=str),
    WithJsonSchema({"type": "string"}),
]


def played(written: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """The traffic with `rate` and `for` as the capture and the written rate make them; a path is from `directory`.

    Raises pydantic's ValidationError, with all that is wrong.
    """
    problems = [
        _problem(key, written[key], "says nothing where traffic is played from a capture", "leave it out")
        for key in written
        if key not in KEYS
    ]
    path, outline = _outline(written["from"], directory, problems)
    even, rate = _rate(written.get("rate", _AS_CAPTURED), problems)
    if problems or outline is None:
        raise ValidationError.from_exception_data("traffic", problems)
    try:
        length = max(timedelta(seconds=outline.count / rate) if even else outline.length / rate, _SHORTEST)
    except (OverflowError, ZeroDivisionError):
        remedy = "write x2 for twice the pace of the capture, or a rate such as 20/s"
        problem = _problem("rate", written.get("rate"), "too slow or too fast a pace to be played", remedy)
        raise ValidationError.from_exception_data("traffic", [problem]) from None
    wikis = {"wikis": dict(outline.wikis)} if outline.wikis and "wikis" not in written else {}
    per_second = f"{outline.count / length.total_seconds()!r}/s"
    return {"seed": 0, **written, **wikis, "from": Playback(path, even), "rate": per_second, "for": length}


def _outline(written: object, directory: Path, problems: list[InitErrorDetails]) -> tuple[Path, Outline | None]:
    if not isinstance(written, str) or not written:
        problems.append(_problem("from", written, "must be the path of a capture", "`devkit capture` makes one"))
        return directory, None
    path = directory / written
    try:
        outline = outline_at(path)
    except UsageError as error:
        first, *more = str(error).splitlines()
        problems.append(_problem("from", written, "; ".join([first, *more]), error.hint or ""))
        return path, None
    if outline.count == 0:
        problems.append(_problem("from", written, f"{path} has no event", "take one while events come"))
    problems += [
        _problem("from", written, f"{text}, and {MOST_REVISIONS} can be played", "take a shorter one with --max-events")
        for text in outline.crowded
    ]
    return path, outline


def _rate(written: object, problems: list[InitErrorDetails]) -> tuple[bool, float]:
    """Whether it is one rate for all events, and that rate a second, or else how many times as fast."""
    if isinstance(written, str) and (match := _TIMES.fullmatch(written)):
        if float(match[1]) > 0:
            return False, float(match[1])
        problems.append(_problem("rate", written, "not above 0", "write x1 for the pace of the capture"))
        return False, 1.0
    try:
        return True, parse_rate(written)
    except QuantityError as error:
        remedy = "write x2 for twice the pace of the capture, or a rate such as 20/s"
        problems.append(_problem("rate", written, error.problem, remedy))
        return True, 1.0


def _problem(key: str, value: object, text: str, remedy: str) -> InitErrorDetails:
    error = PydanticCustomError("capture", "{problem}", {"problem": text, "hint": remedy})
    return InitErrorDetails(type=error, loc=(key,), input=value)
