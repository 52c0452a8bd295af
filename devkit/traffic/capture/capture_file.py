"""A capture as a file: JSON Lines, a header, a line for each record as it came, and a line that closes it.

{"devkit_capture": 2, "source": {…}, "text_kept": false}
{"topic": "…", "partition": 0, "offset": 17, "timestamp_ms": 1772442000150, "key": "…", "bytes": 1204, "event": {…}}
{"topic": "…", "partition": 0, "offset": 18, "timestamp_ms": 1772442000201, "key": null, "bytes": 7,
 "unparsed": {"digest": "…", "reason": "…"}}
{"ended_by": "time", "ended": "…", "counts": {…}, "replaced": {…}}

While it is written its name ends with `.part`; without its last line it is unfinished, whatever its name.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

CAPTURE_VERSION = 2
LATEST_MS = 253_402_300_799_999
"""The end of the year 9999, the last that a time can lie in here."""

EndedBy = Literal["time", "count", "size", "interrupt", "error", "kill"]
"""`kill`: its end was written afterwards, by `devkit capture --finish`."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CaptureSource(_Model):
    """Where the events are from: topics with their numbers of partitions, first the one that was named first."""

    kafka: str
    topics: Annotated[dict[str, Annotated[int, Field(ge=1)]], Field(min_length=1)]
    from_: str = Field(alias="from")
    began: AwareDatetime


class CaptureHeader(_Model):
    """The first line."""

    devkit_capture: int
    source: CaptureSource
    text_kept: bool

    @model_validator(mode="before")
    @classmethod
    def _known_version(cls, written: Any) -> Any:
        """Before all else, as what else is wrong with another version says nothing."""
        version = written.get("devkit_capture", CAPTURE_VERSION) if isinstance(written, dict) else CAPTURE_VERSION
        if version != CAPTURE_VERSION:
            raise PydanticCustomError(
                "capture_version",
                "version {version} of the format is not known, version {known} is",
                {"version": str(version), "known": CAPTURE_VERSION, "hint": "take the capture anew"},
            )
        return written


class CaptureCounts(_Model):
    """`bytes` are those of all values as they were read; `by_partition` counts records as `topic/partition`."""

    events: int = Field(ge=0)
    unparsed: int = Field(ge=0)
    bytes: int = Field(ge=0)
    by_partition: dict[str, int]


class CaptureEnd(_Model):
    """The last line. `replaced` has how often what stands at a place of an event was replaced, None where that is not
    known.
    """

    ended_by: EndedBy
    ended: AwareDatetime
    counts: CaptureCounts
    replaced: dict[str, int] | None


class Unparsed(_Model):
    """A value that is no JSON: a digest that is equal for equal values, and why it cannot be parsed."""

    digest: str
    reason: str


class CapturedRecord(_Model):
    """A record of the topic: `bytes` is the length of its value as it was read."""

    topic: str
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)
    timestamp_ms: int = Field(ge=0, le=LATEST_MS)
    key: str | None
    bytes: int = Field(ge=0)
    event: Any = None
    unparsed: Unparsed | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if ("event" in self.model_fields_set) == (self.unparsed is not None):
            raise PydanticCustomError(
                "captured", "neither or both of event and unparsed", {"hint": "each line has one of them"}
            )
        return self
