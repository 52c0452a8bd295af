"""Where a job starts reading: stated by the operator who starts it, never guessed.

A run with `--new` may make a checkpoint and refuses an existing one; every other run, a restart too, continues a
checkpoint and refuses a missing one. The lesson: a job without a checkpoint fell back to `earliest` and replayed the
whole topic. That is the policy `earliest`, which is unsafe.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from pipeline.errors import RefusedError
from pipeline.ops.moment import parse_moment

MissingCheckpoint = Literal["refuse", "earliest"]
CHOICES = "earliest, latest or timestamp=2026-01-31T00:00:00Z"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class NewStart:
    """A first start: the options of Spark's Kafka source for it."""

    name: str
    options: dict[str, str]

    @property
    def timestamp_ms(self) -> int | None:
        """The time at which it begins, in milliseconds since the epoch; None where no time was given."""
        text = self.options.get("startingTimestamp")
        return None if text is None else int(text)


def parse_new(text: str, now: datetime) -> NewStart:
    """The start position of `--new`. Raises RefusedError that lists the choices, for a time after `now` as well."""
    if text in ("earliest", "latest"):
        return NewStart(text, {"startingOffsets": text})
    kind, _, moment = text.partition("=")
    if kind == "timestamp":
        try:
            start = parse_moment(moment, now)
        except RefusedError as error:
            raise RefusedError(f"--new {text}: {error}", hint=f"write {CHOICES}") from None
        timestamp = max(0, (start - _EPOCH) // timedelta(milliseconds=1))
        # A partition without an event at or after that time begins at its end; by default the query would fail.
        strategy = {"startingOffsetsByTimestampStrategy": "latest"}
        return NewStart(text, {"startingTimestamp": str(timestamp)} | strategy)
    raise RefusedError(f"--new {text}: no such start position", hint=f"write {CHOICES}")


_EARLIEST = NewStart("earliest", {"startingOffsets": "earliest"})


def instead_of_missing(new: NewStart | None, *, exists: bool, policy: MissingCheckpoint) -> NewStart | None:
    """`new`, but where a continued run finds no checkpoint under the incident's policy: the beginning of the topic."""
    return _EARLIEST if new is None and not exists and policy == "earliest" else new


def check(new: NewStart | None, *, checkpoint: str, exists: bool) -> None:
    """Raises RefusedError when the checkpoint is missing for a continued run, or there for a new one."""
    if new is None and not exists:
        raise RefusedError(
            f"checkpoint {checkpoint} holds no position to continue from",
            hint=f"state where to begin: --new {CHOICES}",
        )
    if new is not None and exists:
        raise RefusedError(
            f"checkpoint {checkpoint} exists, and --new {new.name} would not be obeyed",
            hint="remove --new to continue from it, or name another checkpoint",
        )
