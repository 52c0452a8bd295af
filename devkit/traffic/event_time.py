"""Event time of its own: what happened in ten minutes is published in ten seconds, or at once.

    event_times: {published: x60}       rate, for, phases and canaries say when events happen; 60 of their seconds are
                                        published in one
    shift: -2m                          of a stream: its events are so much older than others that are published then
    pauses: [{from: 3m, for: 1m}]       of a stream: what happens in the pause is published at its end
    repeats: {share: 5%, after: 4s}     of a stream: these events come once more, with the same `meta.id`
    canaries: {closing: {after: 5m}}    of a stream: behind all traffic, so that what waits for a watermark leaves

`meta.dt` is the record's own timestamp (CreateTime) then, and the moment of the change (`dt`) lies before it by as much
as ever.
"""

import math
import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator, TypeAdapter, WithJsonSchema

from devkit.traffic.moments import EPOCH, RECEIVED_AFTER
from located_config.duration import Duration, PositiveDuration
from located_config.quantity import NUMBER, QuantityError, reader
from located_config.share import PositiveShare

_AT_ONCE = "at once"
_TIMES = re.compile(rf"\s*x\s*({NUMBER})\s*")
_MILLISECOND = timedelta(milliseconds=1)


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


def parse_pace(value: object) -> float:
    """How many times as fast as it happened; infinite for `at once`. Raises QuantityError."""
    if isinstance(value, float) and value > 0:
        return value
    if value == _AT_ONCE:
        return math.inf
    match = _TIMES.fullmatch(value) if isinstance(value, str) else None
    if match is None or not (pace := float(match[1])):
        raise QuantityError("not a pace", value, f"write x60 for 60 times as fast as it happened, or {_AT_ONCE!r}")
    return pace


def format_pace(pace: float) -> str:
    """The text that `parse_pace` reads back."""
    return _AT_ONCE if math.isinf(pace) else f"x{pace:g}"


Pace = Annotated[
    float,
    reader(parse_pace),
    PlainSerializer(format_pace, return_type=str),
    WithJsonSchema({"type": "string", "pattern": rf"^\s*x\s*{NUMBER}\s*$|^{_AT_ONCE}$"}),
]


class OwnEventTime(_Model):
    """Records carry the event time as CreateTime, and are published at a pace of their own."""

    published: Pace = Field(
        description="How many times as fast as they happened events are published: `x1`, `x60`, or `at once`.",
        examples=["x60", "at once"],
    )

    def after(self, happened: timedelta) -> timedelta:
        """When that is published, after the traffic began."""
        return timedelta(0) if math.isinf(self.published) else happened / self.published


EventTimes = Literal["fixed", "when published"] | OwnEventTime
_BY_NAME: TypeAdapter[str] = TypeAdapter(Literal["fixed", "when published"])


def _either(value: object) -> EventTimes:
    """One of the two by what was written, so that a mistake is told of that one alone."""
    if isinstance(value, dict | OwnEventTime):
        return OwnEventTime.model_validate(value)
    return _BY_NAME.validate_python(value)  # type: ignore[return-value]  # it is one of the two names


NamedOrOwn = Annotated[Any, PlainValidator(_either, json_schema_input_type=EventTimes)]


class ProducerPause(_Model):
    """A time in which a producer holds back what happens; at its end all of that is published, in its order."""

    from_: Duration = Field(alias="from", description="When it begins, in event time.", examples=["3m"])
    for_: PositiveDuration = Field(alias="for", description="How long it lasts, in event time.", examples=["1m"])
    may_lapse: bool = Field(
        default=False,
        description="Whether its events may end as lapsed events, as they come late. Default: they must be processed.",
    )

    @property
    def to(self) -> timedelta:
        """When it ends."""
        return self.from_ + self.for_

    def holds(self, happened: timedelta) -> bool:
        """Whether what happens then is held back."""
        return self.from_ <= happened < self.to


class Repeats(_Model):
    """Events that are published once more, with the same `meta.id` and as received that much later."""

    share: PositiveShare = Field(
        description="Number of events that are repeated, as a share of the drawn ones, on top of these.",
        examples=["5%"],
    )
    after: PositiveDuration = Field(description="How long after its event each repeat is received.", examples=["4s"])

    def count(self, drawn: int) -> int:
        """How many of the drawn events are repeated."""
        return round(self.share * drawn)

    def indices(self, drawn: int) -> tuple[int, ...]:
        """Which of the drawn events are repeated: evenly spaced, under every seed the same."""
        count = self.count(drawn)
        return tuple((2 * n + 1) * drawn // (2 * count) for n in range(count))


class ClosingCanaries(_Model):
    """Canaries behind everything else, so late that no watermark waits any longer."""

    after: PositiveDuration = Field(
        description="How long after the stream's end they happen. They are published when all traffic is out.",
        examples=["5m"],
    )
    partitions: int = Field(
        default=1, ge=1, le=1000, description="Number of partitions of the topic, each of which gets one."
    )


def held_back(happened: timedelta, pauses: Iterable[ProducerPause]) -> timedelta:
    """When it is published at the pace at which it happened."""
    return next((pause.to for pause in pauses if pause.holds(happened)), happened)


def received_at(happened: timedelta, shift: timedelta) -> datetime:
    """The `meta.dt` of an event."""
    return EPOCH + shift + happened + RECEIVED_AFTER


def timestamp_ms(happened: timedelta, shift: timedelta) -> int:
    """The CreateTime of its record: `meta.dt`, since the epoch."""
    return (received_at(happened, shift) - datetime.fromtimestamp(0, EPOCH.tzinfo)) // _MILLISECOND
