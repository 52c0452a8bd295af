"""When a supervisor starts a program again after it has ended, and when it gives up."""

from collections.abc import Sequence
from datetime import timedelta
from random import Random
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from located_config.count import counted
from located_config.duration import Duration, PositiveDuration, format_duration
from located_config.share import Share


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
    max_delay: PositiveDuration = Field(
        default=timedelta(days=1), description="Longest delay before a restart.", examples=["5m"]
    )
    jitter: Share = Field(
        default=0,
        description="Share of a delay by which it is at most longer or shorter, drawn from the seed, the program's "
        "name and the number of the restart.",
        examples=["10%"],
    )
    attempts: NonNegativeInt | None = Field(
        default=None,
        description="Number of restarts in a row, or in the time `within`, after which the supervisor gives up at the "
        "next end. Default: it never gives up.",
        examples=[3],
    )
    within: PositiveDuration | None = Field(
        default=None,
        description="Time before an end in which `attempts` counts restarts, of any row. Default: `attempts` counts "
        "those of a row.",
        examples=["10m"],
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

    def restarts_that_count(self, row: int, ages: Sequence[timedelta]) -> int:
        """Number of restarts to compare with `attempts` at an end: of the row, or of those whose `ages` are below
        `within`.
        """
        return row if self.within is None else sum(age < self.within for age in ages)

    def gives_up(self, restarts: int) -> bool:
        """Whether an end is final after this number of restarts that count."""
        return self.attempts is not None and restarts >= self.attempts

    def format_restarts(self, restarts: int) -> str:
        """The restarts that count: `3 restarts in a row`, `5 restarts within 10m`."""
        period = "in a row" if self.within is None else f"within {format_duration(self.within)}"
        return f"{counted(restarts, 'restart')} {period}"

    def delay_after(self, row: int, random: Random) -> timedelta:
        """How long the next restart waits, after this number of restarts in a row."""
        try:
            delay = min(self.delay * self.backoff**row, self.max_delay)
        except OverflowError:
            delay = self.max_delay if self.delay else self.delay
        return min(delay * random.uniform(1 - self.jitter, 1 + self.jitter), self.max_delay)

    @property
    def least_time_of_attempts(self) -> timedelta:
        """Time from the first to the last of `attempts` restarts if no process runs at all and no delay grows."""
        delays = max(0, (self.attempts or 0) - 1)
        return min(self.delay, self.max_delay) * (1 - self.jitter) * delays

    def is_new_row(self, ran: timedelta) -> bool:
        """Whether the end of a process that ran for this time begins a new row."""
        return self.reset_after is not None and ran >= self.reset_after
