"""`result.json` as a model. Its JSON Schema is beside this file; a test keeps the two equal."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from devkit.container.kill import ContainerFigures
from devkit.headroom.headroom_figures import ArmHeadroom, RunHeadroom
from devkit.observe.arm_end import ArmEnd
from devkit.observe.arm_observation import AnyEvidence
from devkit.observe.arm_role import TWO_ARMS, ArmName, Roles
from devkit.observe.audit.model import Audit
from devkit.observe.figures import Figures
from devkit.observe.logs.first_errors import Complaint
from devkit.observe.observable import Observable
from devkit.observe.program_observation import ProgramObservation
from devkit.observe.settings import ChangedValue
from devkit.observe.timeline.action_outcomes import StepOutcome
from devkit.observe.timeline.run_metadata import Difference
from devkit.observe.timeline.run_phases import PhaseTime
from devkit.report.ablation import Ablation
from devkit.report.expectation_result import ExpectationResult
from devkit.report.outcome import Outcome
from located_config.count import counted, times


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def given_up_text(after: str) -> str:
    """`given up by its supervisor after 3 restarts in a row`."""
    return "given up by its supervisor" + (f" after {after}" if after else "")


class ProgramResult(_Model):
    """One of several programs of an arm, as it was observed; the fields are those of a `ProgramObservation`.
    `audit` is of the output topic that it has of its own; `unaudited` is the name of one that no audit looks at:
    nothing is known of its delivery.
    """

    name: str
    run: str
    started: bool
    restarts: int
    exit_codes: tuple[int, ...]
    is_over: bool
    failures: tuple[str, ...]
    exceptions: tuple[str, ...]
    log: dict[str, int] = {}
    not_observable: tuple[Observable, ...] = ()
    peak_memory_bytes: int | None = None
    mean_cpu_cores: float | None = None
    container: ContainerFigures | None = None
    unaudited: str = ""
    audit: Audit | None = None
    gave_up: bool = False
    gave_up_after: str = ""

    @classmethod
    def of(cls, seen: ProgramObservation) -> "ProgramResult":
        """Exceptions become text and observables are sorted, so that equal observations give equal JSON."""
        shown = {name: getattr(seen, name) for name in cls.model_fields}
        return cls(
            **shown
            | {"exceptions": tuple(map(str, seen.exceptions)), "not_observable": tuple(sorted(seen.not_observable))}
        )

    @property
    def text(self) -> str:
        """A summary in one line."""
        if not self.started:
            return f"{self.run}, never started: a program that it needs did not run"
        codes = ", ".join(map(str, self.exit_codes))
        ends = f"ended by itself with exit code {codes}" if codes else "ran until the arm's end"
        restarts = f"restarted {times(self.restarts)}" if self.restarts else "never restarted"
        text = f"{self.run}, {ends}, {restarts}"
        if self.gave_up:
            text += f", {given_up_text(self.gave_up_after)}"
        if self.peak_memory_bytes is not None:
            text += f", at most {self.peak_memory_bytes / (1 << 20):.0f}MiB of memory"
        if self.log:
            text += f", {counted(sum(self.log.values()), 'log event')}"
        if self.unaudited:
            text += f"; its output, topic {self.unaudited}, is not audited"
        return text


class ArmResult(_Model):
    """One arm. `holds`: all its expectations do; None when none is broken and some cannot be judged.

    `gave_up`: the supervisor of the main program allowed it no further restart, after the restarts of `gave_up_after`.
    `refusal` is the reason of the main program for refusing its start, None where it started. `end` is why the arm
    ended, `ended_by` the same in words. `failures` are the errors of pipeline processes that failed, `complaints` the
    first warnings and errors of the programs. `caveats` are manual interventions (a debugger, a fault by hand), so that
    the arm shows nothing of the scenario. `cold` says why it was not warm, where it was to be. `short` says that the
    machine was too busy for the end that was reached, and is empty where it was not; `headroom` is None where it was
    not measured. `unproven` says why a fixed arm that breaks no expectation is not known to hold: a time ended it
    with unread events, or it lost events, and no expectation bounds that. `programs` has each of several; restarts,
    exceptions and failures are those of the first. `steps` are the arm's steps, each of which is among its
    `expectations` as well.
    """

    holds: bool | None
    expectations: tuple[ExpectationResult, ...]
    ended_by: str
    end: ArmEnd
    restarts: int
    replays: int
    replayed_offsets: int
    audit: Audit
    figures: Figures
    exceptions: tuple[str, ...]
    failures: tuple[str, ...] = ()
    complaints: tuple[Complaint, ...] = ()
    caveats: tuple[str, ...] = ()
    cold: str = ""
    duration_s: float
    headroom: ArmHeadroom | None = None
    short: str = ""
    unproven: str = ""
    programs: tuple[ProgramResult, ...] = ()
    gave_up: bool = False
    gave_up_after: str = ""
    refusal: str | None = None
    steps: tuple[StepOutcome, ...] = ()

    @property
    def given_up(self) -> str:
        """That the supervisor of the main program gave up, and why; empty where it did not."""
        return given_up_text(self.gave_up_after) if self.gave_up else ""

    @property
    def was_short(self) -> bool:
        """Whether the machine was too busy for its end or any expectation."""
        return bool(self.short) or any(item.short for item in self.expectations)


class CauseResult(_Model):
    """A cause that the scenario names for its incident: whether it was `shown` to be present and to act, and what was
    seen of it. A run does not show that it makes the incident: `ablation` says which differences the fix needs.
    """

    cause: str
    shown: bool
    status: Literal["present", "not shown"] = Field(
        default_factory=lambda data: "present" if data.get("shown") else "not shown"
    )
    did: str

    @property
    def statement(self) -> str:
        """For a person, as a statement."""
        return f"{self.cause}: {self.did}" if self.shown else f"the cause was not shown, {self.cause}: {self.did}"


class Result(_Model):
    """The whole run. `reasons` says why an outcome is not "reproduced and fixed". `roles` has all arms of the scenario,
    `arms` those that were played; `cause` is empty where the scenario names none: it is the faults then. `also_differs`
    are keys of `config_difference` in which incident and fix differ, and which the cause does not name. `changes` are
    values that the command line set in the scenario's file for this run. `ablation` says what the fix needs, where
    that was asked for. `broke_off` says why the kit could not go on after the arms that are there; it is empty where it
    could, and a run that breaks off within its first arm has no result.

    `phases` say where the time went. `headroom` is None where it was not measured. `pipeline` is the command of the
    program under test; empty for the kit's.
    """

    scenario: str
    title: str
    seed: int
    outcome: Outcome
    exit_code: int
    reasons: tuple[str, ...]
    arms: dict[ArmName, ArmResult]
    config_difference: dict[str, Difference]
    changes: tuple[ChangedValue, ...] = ()
    fault_evidence: dict[ArmName, tuple[AnyEvidence, ...]]
    began: datetime
    duration_s: float
    phases: tuple[PhaseTime, ...] = ()
    versions: dict[str, str]
    repeat: str
    pipeline: str = ""
    headroom: RunHeadroom | None = None
    roles: Roles = TWO_ARMS
    cause: tuple[CauseResult, ...] = ()
    also_differs: tuple[str, ...] = ()
    ablation: Ablation | None = None
    broke_off: str = ""
