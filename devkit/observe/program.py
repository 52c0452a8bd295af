"""What was observed of one of several programs of an arm."""

from pydantic import BaseModel, ConfigDict

ONLY = "pipeline"
"""What the only program of an arm is called, in its logs and to a person."""


class ProgramObservation(BaseModel):
    """`run` is how the scenario names what it runs. `exit_codes` are those of its processes that ended by themselves;
    `is_over` says that it ended and was not to be started again, `started` is False where what it needs never ran.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    run: str
    started: bool
    restarts: int
    exit_codes: tuple[int, ...]
    is_over: bool
    failures: tuple[str, ...]
    exceptions: tuple[str, ...]
