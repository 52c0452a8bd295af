"""The first warnings and errors of a program, from its log, its exceptions or its last lines.

A failed verdict begins with them, as they most often name the cause: the pipeline logged `limits_disagree` at its
start, and the expectation that broke a minute later only shows that offsets were read again.
"""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict

from devkit.observe.logs.logs import UnknownLine
from devkit.observe.timeline.kit_events import ProcessOverLimit, ProgramEvent
from located_config.count import counted
from pipeline.events import (
    BreakerOpen,
    BrokersAwaited,
    ClaimStoreDown,
    Failed,
    HeapDumped,
    JvmUnknown,
    LagUnknown,
    LimitOf,
    LimitsDisagree,
    LimitsUnknown,
    SettingsUnknown,
    WikisFileUnusable,
)

Kind = Literal["warning", "refusal", "error", "exception", "last lines of its log"]

_LEVELS: dict[str, Kind] = {
    "warn": "warning",
    "warning": "warning",
    "error": "error",
    "critical": "error",
    "fatal": "error",
}
_TEXTS = ("message", "msg", "error", "problem", "text")


class Complaint(BaseModel):
    """`event` is the name of the log event, empty where it is none. `at_s` counts from the arm's start, None where the
    log does not say when. `program` is empty for the only program of an arm, `process` counts from 1.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    text: str
    event: str = ""
    at_s: float | None = None
    program: str = ""
    process: int = 1

    @property
    def sentence(self) -> str:
        """For a person: `at 3.1s, process 1, warning (limits_disagree): …`."""
        when = [] if self.at_s is None else [f"at {self.at_s:.1f}s"]
        who = [f"{self.program} process {self.process}" if self.program else f"process {self.process}"]
        what = f"{self.kind} ({self.event})" if self.event else self.kind
        return f"{', '.join([*when, *who, what])}: {self.text}"


@dataclass
class FirstComplaints:
    """Fed with each event of a program, in order; `found` has its first warning, and its first error or refusal.

    That a limit in `of_kit` does not fit another is no complaint: the kit itself has made it so.
    """

    of_kit: frozenset[LimitOf] = frozenset()
    found: list[Complaint] = field(default_factory=list)

    @property
    def has_error(self) -> bool:
        """Whether `found` has more than a warning: an error or a refusal."""
        return any(complaint.kind != "warning" for complaint in self.found)

    def take(self, event: ProgramEvent, *, at_s: float, program: str, process: int) -> None:
        """Keeps the first warning and the first error or refusal. `at_s` counts from the arm's start."""
        complaint = complaint_in(event)
        if complaint is None or (isinstance(event, LimitsDisagree) and event.of in self.of_kit):
            return
        kind, text = complaint
        if any((earlier.kind == "warning") == (kind == "warning") for earlier in self.found):
            return
        self.found.append(
            Complaint(kind=kind, text=text, event=event.event, at_s=round(at_s, 3), program=program, process=process)
        )


def complaint_in(event: ProgramEvent) -> tuple[Kind, str] | None:
    """Kind and text of an event that says that something is wrong; None of any other."""
    match event:
        case Failed(error=error, refused=refused):
            return ("refusal" if refused else "error"), error
        case ProcessOverLimit():
            return "error", event.text
        case HeapDumped():
            return "error", heap_dump_text(event)
        case LimitsDisagree(problem=problem, hint=hint):
            return "warning", f"{problem}; {hint}"
        case SettingsUnknown(settings=settings, hint=hint):
            return "warning", f"Spark does not know {', '.join(settings)}; {hint}"
        case BrokersAwaited(bootstrap=bootstrap, reason=reason):
            return "warning", f"the start waits for the brokers at {bootstrap}: {reason}"
        case LimitsUnknown(bootstrap=bootstrap, reason=reason):
            return "warning", f"the brokers at {bootstrap} did not say their limits: {reason}"
        case ClaimStoreDown(store=store, reason=reason, effect=effect):
            return "warning", f"{store}: {reason}; {effect}"
        case WikisFileUnusable(reason=reason, hint=hint):
            return "warning", f"{reason}; {hint}"
        case BreakerOpen(wiki=wiki, wikis=wikis, why=why, failed=failed, requests=requests):
            who = wiki or f"no wiki (of {counted(wikis or 0, 'wiki')} some failed)"
            return "warning", f"{who} is not asked for now: {failed:,} of {counted(requests, 'request')} failed, {why}"
        case LagUnknown(error=error):
            return "warning", f"the lag is not known: {error}"
        case JvmUnknown(error=error):
            return "warning", f"the driver's JVM did not answer: {error}"
        case UnknownLine(fields=fields):
            kind = _LEVELS.get(str(fields.get("level", "")).lower())
            text = next((fields[name] for name in _TEXTS if isinstance(fields.get(name), str)), "")
            return (kind, str(text)) if kind else None
    return None


def heap_dump_text(dump: HeapDumped) -> str:
    """The file of a heap dump, and the classes that take most of the heap where the program has read that."""
    classes = ", ".join(f"{name} {size / (1 << 20):.0f}MiB" for name, size in dump.classes.items())
    return f"the driver's JVM ran out of memory: {dump.file} holds {classes or 'its heap'}"
