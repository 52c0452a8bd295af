"""The observation of one program of an arm."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from devkit.container.kill import ContainerFigures
from devkit.observe.audit.model import Audit
from devkit.observe.logs.log_files import NO_LOG_FILES, LogFiles
from devkit.observe.logs.logs import LoggedException
from devkit.observe.observable import Observable
from devkit.observe.samples.metrics import NOTHING_SCRAPED, Scraped
from devkit.observe.settings import OtherSetting

ONLY = "pipeline"
"""The name of the only program of an arm."""


@dataclass(frozen=True)
class ProgramObservation:
    """All that an arm shows of a program. Topics, upstream and the main audit are the arm's."""

    name: str
    """Empty for the only program of an arm whose file names none."""
    run: str
    """How the scenario names what it runs."""
    started: bool
    """False where a program that it needs never ran."""
    restarts: int
    replays: int
    """Number of batches that were begun again."""
    exit_codes: tuple[int, ...]
    """Of its processes that ended by themselves."""
    is_over: bool
    """Whether it ended and was not to be started again."""
    failures: tuple[str, ...]
    """The errors of its processes that failed, in order."""
    stalls: tuple[str, ...]
    """Those of `failures` that say that no commit came in time."""
    exceptions: tuple[LoggedException, ...]
    log: Mapping[str, int]
    """Number of events on its standard output, by name."""
    not_observable: frozenset[Observable]
    log_files: LogFiles = NO_LOG_FILES
    metrics: Scraped = NOTHING_SCRAPED
    """What its own endpoint showed."""
    peak_memory_bytes: int | None = None
    """Resident memory of all its processes; None where no sample found one."""
    mean_cpu_cores: float | None = None
    container: ContainerFigures | None = None
    unaudited: str = ""
    """The name of an output topic of its own that no audit looks at."""
    audit: Audit | None = None
    """Of the output topic that a program beside the main one has of its own."""
    gave_up: bool = False
    """Whether its supervisor's policy allowed no further restart."""
    gave_up_after: str = ""
    """The restarts for which it gave up: `3 restarts in a row`, `5 restarts within 10m`."""
    refusal: str | None = None
    """The reason for which it refused its start."""
    confirmed: Mapping[str, Any] | None = None
    """The effective configuration that its newest process logged."""
    ran: bool | None = None
    """Whether it ever ran; None where nothing shows that."""
    spark: Mapping[str, Any] | None = None
    """The settings of its Spark, as logged."""
    other_settings: Mapping[str, OtherSetting] | None = None
    """Those in which it ran otherwise than declared; None where it logged no configuration."""
    environment: Mapping[str, str] | None = None
    """The variables of its newest process that any arm gives it; None where none was started."""
    command_line: tuple[str, ...] | None = None
    """Of its newest process."""

    @property
    def ended_with(self) -> int | None:
        """The exit code of one that is over; None of one that ran to the arm's end."""
        return self.exit_codes[-1] if self.is_over and self.exit_codes else None
