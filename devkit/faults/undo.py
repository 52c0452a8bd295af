"""Undoing faults by the journal alone: `python -m devkit.faults.undo RUN_ID lapsed | ended`.

The guardian has a process of its own do it, as it asks brokers and engines and may have to wait for them, which the
guardian must not. `devkit heal` does it for runs whose guardian is gone.

lapsed   the run goes on, but who held the fault is gone: everything of it is undone
ended    the run is over, and with it its own parts: only what outlives them is undone
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from devkit.errors import DevkitError, StackError
from devkit.faults.fault import Fault
from devkit.faults.journal import Entry, Journal, Page, journals
from devkit.faults.registry import FAULTS
from devkit.guardian.lease import has_lapsed
from devkit.guardian.run_state import known_runs
from located_config.extension import ExtensionError, load_extension


@dataclass(frozen=True)
class Undone:
    """The result for one fault: its `irreversible` effects, and `why` the rest is not undone, empty when it is."""

    run_id: str
    name: str
    asked: str
    irreversible: tuple[str, ...] = ()
    why: str = ""


def carry_out(page: Page, *, only_outliving: bool = False) -> None:
    """Undo what the page says, the last first. Raises StackError when something could not be undone."""
    fault = _fault(page.entry)
    for plan in reversed(page.entry.plans):
        if plan.irreversible or (only_outliving and not plan.outlives_run):
            continue
        try:
            fault.undo(plan)
        except NotImplementedError as error:
            raise StackError(f"{error}") from error


def undo_lapsed(run_id: str) -> list[Undone]:
    """Undo the faults of a run that goes on, as far as their leases were not renewed."""
    return [_undo(page) for page in Journal(run_id).pages() if has_lapsed(page.path)]


def undo_ended(run_id: str) -> list[Undone]:
    """Undo what faults of a run that is over left. What cannot be undone stays in the journal, to be named."""
    return [_undo(page, only_outliving=True) for page in Journal(run_id).pages()]


def heal_faults() -> list[Undone]:
    """Undo what faults left of all runs whose guardian is gone, and forget what cannot be undone: it is named here.

    A page that cannot be read stays, and is named as a fault that is not undone.
    """
    alive = {run.run_id for run in known_runs() if run.guardian_is_alive()}
    return [undone for journal in journals() if journal.run_id not in alive for undone in _heal(journal)]


def _heal(journal: Journal) -> Iterator[Undone]:
    for page in journal.pages():
        undone = _undo(page, only_outliving=True)
        if not undone.why:
            page.close()
        yield undone
    for path in journal.unreadable():
        why = (
            f"its page {path} is damaged or of another version of the kit; "
            "heal with that version, or delete the page when the part is as it was"
        )
        yield Undone(journal.run_id, path.stem, "what was asked is unknown", why=why)


def _undo(page: Page, *, only_outliving: bool = False) -> Undone:
    """The page is closed when nothing is left to be undone or to be named."""
    entry = page.entry
    # With the parts of the run, what was done to them is gone.
    irreversible = tuple(
        plan.irreversible for plan in entry.plans if plan.irreversible and (plan.outlives_run or not only_outliving)
    )
    try:
        carry_out(page, only_outliving=only_outliving)
    except DevkitError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return Undone(entry.run_id, entry.name, entry.asked, irreversible, f"{error}{hint}")
    if irreversible:
        plans = tuple(plan for plan in entry.plans if plan.irreversible)
        page.entry = entry.model_copy(update={"plans": plans, "claims": frozenset()})
        page.write()
    else:
        page.close()
    return Undone(entry.run_id, entry.name, entry.asked, irreversible)


def _fault(entry: Entry) -> type[Fault]:
    """Raises StackError when no fault of this name is known."""
    if entry.fault not in FAULTS:
        _load(entry)
    if entry.fault not in FAULTS:
        raise StackError(
            f"fault {entry.fault!r} of {entry.module} is not known here",
            hint="run `devkit heal` where that package is installed",
        )
    return FAULTS[entry.fault]


def _load(entry: Entry) -> None:
    """The extension of the user's that adds it, or the package of which it is. Raises StackError."""
    if not entry.extension:
        with suppress(ImportError):
            importlib.import_module(entry.module)
        return
    try:
        load_extension(entry.extension, Path.cwd())
    except ExtensionError as error:
        raise StackError(f"fault {entry.fault!r} cannot be undone: {error}", hint=error.hint) from error


def main() -> None:
    """Undo faults: arguments the run's id, and `lapsed` or `ended`. Exit 1 when one could not be undone."""
    run_id, why = sys.argv[1:]
    results = undo_lapsed(run_id) if why == "lapsed" else undo_ended(run_id)
    sys.exit(1 if any(undone.why for undone in results) else 0)


if __name__ == "__main__":
    main()
