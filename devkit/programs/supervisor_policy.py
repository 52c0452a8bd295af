"""When a supervisor starts a program again after it has ended, and when it gives up."""

from datetime import timedelta
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from located_config.duration import Duration, PositiveDuration

_LONGEST_DELAY = timedelta(days=1)


class SupervisorPolicy(BaseModel):
    """Restarts come in rows: one that follows a process which ran for `reset_after` is the first of a new row."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    delay: Duration = Field(
        default=timedelta(seconds=1), description="Time between the end of a program and the first restart of a row."
    )
    backoff: Annotated[float, Field(ge=1, allow_inf_nan=False)] = Field(
        default=1,
        description="Number by which the delay is multiplied with each further restart of a row.",
        examples=[2],
    )
    attempts: NonNegativeInt | None = Field(
        default=None,
        description="Number of restarts in a row after which the supervisor gives up at the next end. Default: "
        "it never gives up.",
        examples=[3],
    )
    reset_after: PositiveDuration | None = Field(
        default=None,
        description="Time that a process has to run before its end begins a new row. Default: all restarts are "
        "one row.",
        examples=["10s"],
    )

    def changed_by(self, overlay: "SupervisorPolicy | None") -> Self:
        """With what is written in `overlay` in place of what is here."""
        if overlay is None:
            return self
        return self.model_copy(update={key: getattr(overlay, key) for key in overlay.model_fields_set})

    def gives_up(self, restarts: int) -> bool:
        """Whether an end is final after this number of restarts in a row."""
        return self.attempts is not None and restarts >= self.attempts

    def delay_after(self, restarts: int) -> timedelta:
        """How long the next restart waits, after this number of restarts in a row; at most a day."""
        try:
            return min(self.delay * self.backoff**restarts, _LONGEST_DELAY)
        except OverflowError:
            return _LONGEST_DELAY if self.delay else self.delay

    def is_new_row(self, ran: timedelta) -> bool:
        """Whether the end of a process that ran for this time begins a new row."""
        return self.reset_after is not None and ran >= self.reset_after
