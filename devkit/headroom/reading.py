"""One line of the probe, as the kit reads it."""

from pydantic import BaseModel, ConfigDict


class ProbeReading(BaseModel):
    """A quantum that was due at `due_s` and done at `done_s`, of the monotonic clock.

    `core_s` is the quantum at the pace of its undisturbed parts, so what a core gave without other load.
    `waited_s` counts the time in which tasks of the machine waited for a core, None where nothing counts it. A quantum
    that is not `paced` followed another without a pause.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    due_s: float
    done_s: float
    core_s: float
    waited_s: float | None
    paced: bool

    @property
    def took_s(self) -> float:
        """From when it was due: the quantum's own time and the wait for a core before it."""
        return self.done_s - self.due_s
