"""What was observed of one of several programs of an arm."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from devkit.container.kill import ContainerFigures
from devkit.observe.audit.model import Audit
from devkit.observe.config_drift import OtherSetting
from devkit.observe.logs import LoggedException
from devkit.observe.observable import Observable

ONLY = "pipeline"
"""What the only program of an arm is called, in its logs and to a person."""


@dataclass(frozen=True)
class ProgramObservation:
    """`run` is how the scenario names what it runs. `exit_codes` are those of its processes that ended by themselves;
    `is_over` says that it ended and was not to be started again, `gave_up` that its supervisor's policy made it so,
    `started` is False where what it needs never ran.

    `failures`, `stalls` and `replays` are as an arm's, `log` counts the events on its standard output by name, and
    `not_observable` is what it did not show. Memory is resident; both it and `mean_cpu_cores` are of all its processes
    together, None where no sample found one. `audit` is of the output topic that one beside the main program has of its
    own; where it has such a topic and no audit, `unaudited` is its name. `ran`, `spark` and `other_settings` are as an
    arm's.
    """

    name: str
    run: str
    started: bool
    restarts: int
    replays: int
    exit_codes: tuple[int, ...]
    is_over: bool
    failures: tuple[str, ...]
    stalls: tuple[str, ...]
    exceptions: tuple[LoggedException, ...]
    log: Mapping[str, int]
    not_observable: frozenset[Observable]
    peak_memory_bytes: int | None = None
    mean_cpu_cores: float | None = None
    container: ContainerFigures | None = None
    unaudited: str = ""
    audit: Audit | None = None
    gave_up: bool = False
    confirmed: Mapping[str, Any] | None = None
    ran: bool | None = None
    spark: Mapping[str, Any] | None = None
    other_settings: Mapping[str, OtherSetting] | None = None

    @property
    def ended_with(self) -> int | None:
        """The exit code of one that is over; None of one that ran to the arm's end."""
        return self.exit_codes[-1] if self.is_over and self.exit_codes else None
