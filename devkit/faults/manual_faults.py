"""Faults that a person adds to a running stack: begun, listed and removed from the command line."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

import psutil
from pydantic import ValidationError

from devkit.errors import StackError, UsageError
from devkit.faults.attached_part import attached_parts
from devkit.faults.fault import Fault
from devkit.faults.holder import HolderStatus
from devkit.faults.journal import Journal, Page
from devkit.faults.refused_fault import RefusedFault, RefusedFaults
from devkit.faults.registry import FAULTS
from devkit.faults.timeline_item import TimelineItem
from devkit.faults.undo import carry_out
from devkit.guardian.environment import run_environment
from devkit.guardian.processes import RUN_VARIABLE, is_alive
from devkit.guardian.run_state import LOGS, RunState
from devkit.proxy.client import ProxyControl
from devkit.stack.front import PROXY
from devkit.stack.parts.part import Part
from devkit.waiting import wait_until
from located_config.extension import environment_for
from located_config.near import near_miss
from located_config.problem import problems

_ENDING = timedelta(seconds=150)


def is_on_a_part(do: Mapping[str, object]) -> bool:
    """Whether what is written behind `do` is a fault on a part, and not one of the mock's."""
    return len(do) == 1 and next(iter(do)) in FAULTS


def require_known_part_fault(do: Mapping[str, object]) -> None:
    """Raises UsageError for what names a part, which no fault of the mock does, and is no fault on a part: the mock
    would answer with names of its own.
    """
    for name, parameters in do.items():
        if name not in FAULTS and isinstance(parameters, Mapping) and "part" in parameters:
            raise UsageError(f"do.{name}: no fault on a part has this name", hint=near_miss(name, FAULTS))


def parse(do: Mapping[str, object], *, name: str | None, at: str | None, for_: str | None) -> TimelineItem:
    """Raises UsageError, which says what is wrong and where."""
    document = {"name": name or "-", "do": do, "at": at or "0s"} | ({"for": for_} if for_ else {})
    try:
        item = TimelineItem.model_validate(document)
    except ValidationError as error:
        message = "\n".join(map(str, problems(error, TimelineItem, document)))
        raise UsageError(message, hint="`devkit faults` shows the parameters of each") from error
    return item


@dataclass(frozen=True)
class Added:
    """A fault that was added. `text` is what it did, where it is over at once."""

    name: str
    text: str = ""
    waits: bool = False


class ManualFaults:
    """The faults of one run that were added by hand."""

    def __init__(self, run: RunState) -> None:
        self._run, self._journal, self._refused = run, Journal(run.run_id), RefusedFaults(run.directory)

    def listed(self) -> tuple[Page, ...]:
        """All faults of the run, oldest first; those with an `entry.holder` were added by hand."""
        return self._journal.pages()

    def refused(self) -> tuple[RefusedFault, ...]:
        """The faults that were to begin later, and then were refused."""
        return self._refused.listed()

    def add(self, item: TimelineItem, *, taken: frozenset[str]) -> Added:
        """Have a process of the run hold it. Raises UsageError for what the stack refuses, StackError when it fails."""
        self._require(item.do)
        names = taken | {page.entry.name for page in self.listed()}
        if item.name == "-":
            item = item.model_copy(update={"name": _free_name(item.do, names)})
        elif item.name in names:
            raise UsageError(f"there is a fault {item.name!r} already", hint="give another --name, or remove that one")
        if not item.at:  # of a later one, the process that holds it checks the claims when it begins
            self._journal.require_free(item.do.claims({}))
        self._refused.forget(item.name)
        status = self._start(item)
        if status.phase == "refused":
            raise StackError(f"{item.do}: {status.text}")
        return Added(item.name, status.text, waits=status.phase == "waiting")

    def remove(self, name: str) -> bool:
        """End one and wait until it is undone; False when there is none of this name. Raises StackError."""
        pages = [page for page in self.listed() if page.entry.name == name]
        for page in pages:
            holder = page.entry.holder
            if holder is None:
                raise UsageError(
                    f"fault {name!r} is of the timeline of the scenario that runs", hint="it ends by itself"
                )
            if _lives(holder):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(holder, signal.SIGTERM)
                wait_until(partial(_is_gone, page.path), what=f"fault {name!r} to end", deadline=_ENDING)
            else:
                carry_out(page)
                page.close()
        return self._refused.forget(name) or bool(pages)

    def _require(self, fault: Fault) -> None:
        parts = attached_parts(self._run)
        for need in fault.needs():
            if need.part not in parts:
                names = ", ".join(parts) or "none"
                raise UsageError(
                    f"{fault}: stack {self._run.run_id} has no part {need.part!r}", hint=f"it has: {names}"
                )
            if need.lever is not None:
                parts[need.part].require(need.lever)
            if need.named:
                raise UsageError(
                    f"{fault}: programs of stack {self._run.run_id} find {need.part} by its address",
                    hint="they find it by a name in a scenario whose `timeline` has this fault",
                )
            if need.proxied and not self._is_proxied(need.part, parts.get(PROXY)):
                raise UsageError(
                    f"{fault}: no proxy stands in front of {need.part} of stack {self._run.run_id}",
                    hint="`devkit up --proxied` brings one up; a scenario has one where its timeline has such a fault",
                )

    def _is_proxied(self, part: str, proxy: Part | None) -> bool:
        if proxy is None:
            return False
        control = ProxyControl(proxy.address)
        try:
            return any(listener.name == part for listener in control.listeners())
        finally:
            control.disconnect()

    def _start(self, item: TimelineItem) -> HolderStatus:
        log = Path(self._run.addresses.get(LOGS, str(self._run.directory))) / f"fault-{os.getpid()}.log"
        with log.open("ab") as stderr:
            holder = subprocess.Popen(
                [sys.executable, "-P", "-m", "devkit.faults.holder", self._run.run_id],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                # It outlives this command and its terminal; the run's mark has the guardian end it with the run.
                start_new_session=True,
                env=run_environment(os.environ) | {RUN_VARIABLE: self._run.run_id} | environment_for("fault on a part"),
            )
        assert holder.stdin is not None
        assert holder.stdout is not None
        with holder.stdin as request, holder.stdout as answer:
            request.write(item.model_dump_json(by_alias=True, exclude_unset=True).encode())
            request.close()
            line = answer.readline()
        holder.returncode = 0  # it goes on without us
        if not line:
            raise StackError(f"{item.do}: it could not be held", hint=f"its log is {log}")
        return HolderStatus.model_validate_json(line)


def _lives(holder: int) -> bool:
    """One that was killed may remain a zombie for ever, where no process adopts orphans."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return is_alive(psutil.Process(holder))
    return False


def _is_gone(path: Path) -> bool:
    return not path.exists()


def _free_name(fault: Fault, taken: frozenset[str]) -> str:
    base = "-".join([fault.name, *(need.part for need in fault.needs()[:1])])
    names = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
