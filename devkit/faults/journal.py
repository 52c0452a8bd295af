"""The plans to undo faults, on disk before anything is done: a directory a run, in it a page a fault.

It lies in the state directory and not in the run's own, which goes with the run: `devkit heal` reads it when both the
run and its guardian were killed.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from devkit.errors import UsageError
from devkit.faults.claims import clashes, cluster_claims
from devkit.faults.fault import Fault, Undo
from devkit.guardian import lease
from devkit.guardian.lease import PAGE, journal_directory
from located_config.extension import source_of


class Entry(BaseModel):
    """One fault: its own name, the kind of fault, what was asked for, and how it is undone, in the order of acting."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    name: str
    fault: str
    module: str
    extension: str = ""
    """The extension that registers the fault in another process, if one added it."""
    asked: str
    began: datetime
    plans: tuple[Undo, ...] = ()
    holder: int | None = None
    """The process that renews the lease, where that is one for this fault alone."""
    lasts_s: float | None = None
    """How long it was asked for; 0 for one that is over when it is done, None until it is ended."""
    waits: bool = False
    """Whether it is only held ready, to begin later."""
    parts: tuple[str, ...] = ()
    """The parts of the stack that it holds."""
    claims: frozenset[str] = frozenset()
    """No other fault may act on these until this one is undone; see `devkit.faults.claims`."""
    cluster: str = ""
    """The id of the Kafka cluster of which it claims anything; empty for none."""

    @property
    def irreversible(self) -> tuple[str, ...]:
        """Its effects that cannot be undone."""
        return tuple(plan.irreversible for plan in self.plans if plan.irreversible)

    def remaining(self, now: datetime) -> str:
        """How long it goes on to act."""
        if self.lasts_s is None:
            return "until the arm ends" if self.holder is None else "until it is removed"
        remaining_s = self.lasts_s - (now - self.began).total_seconds()
        return f"for another {remaining_s:.0f} s" if remaining_s >= 1 else "and ends now"


@dataclass
class Page:
    """The page of one fault; it is there from before the fault begins until it is undone."""

    path: Path
    entry: Entry

    def plan(self, undo: Undo) -> None:
        """Write how something is undone that will be done next."""
        self.entry = self.entry.model_copy(update={"plans": (*self.entry.plans, undo)})
        self.write()

    def renew(self) -> None:
        """Raises FileNotFoundError when another process has undone the fault and removed the page."""
        lease.renew(self.path)

    def write(self) -> None:
        """Atomically; renews the lease."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(".partial")
        partial.write_text(self.entry.model_dump_json(indent=2))
        partial.replace(self.path)

    def close(self) -> None:
        """It is undone. The last page takes the directory with it."""
        self.path.unlink(missing_ok=True)
        try:
            self.path.parent.rmdir()
        except OSError:
            return  # other faults have pages there


@dataclass(frozen=True)
class Journal:
    """The journal of a run."""

    run_id: str
    directory: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "directory", journal_directory(self.run_id))

    def open(
        self, name: str, fault: Fault, *, holder: int | None = None, lasts_s: float | None = None, waits: bool = False
    ) -> Page:
        """A page for a fault that is about to begin, or `waits`."""
        entry = Entry(
            run_id=self.run_id,
            name=name,
            fault=fault.name,
            module=type(fault).__module__,
            extension=source_of("fault on a part", fault.name),
            asked=str(fault),
            began=datetime.now(UTC),
            holder=holder,
            lasts_s=lasts_s,
            waits=waits,
            parts=tuple(dict.fromkeys(need.part for need in fault.needs())),
        )
        page = Page(self.directory / f"{secrets.token_hex(4)}{PAGE}", entry)
        page.write()
        return page

    def claim(self, page: Page, claims: frozenset[str], cluster: str = "") -> None:
        """Have what a fault is about to act on for it alone: in this run, and what is of a Kafka cluster, by its id, in
        all runs of this user. Raises UsageError when another fault holds some of it.
        """
        if not claims:
            return
        # Written first: of two processes that claim the same at once both may be refused, but never none.
        page.entry = page.entry.model_copy(update={"claims": claims, "cluster": cluster})
        page.write()
        self.require_free(claims, except_for=page)
        if cluster:
            self._require_free_elsewhere(cluster_claims(claims), cluster)

    def _require_free_elsewhere(self, claims: frozenset[str], cluster: str) -> None:
        entries = (page.entry for journal in journals() if journal.run_id != self.run_id for page in journal.pages())
        for entry in entries:
            if entry.cluster == cluster and (shared := clashes(claims, entry.claims)):
                raise UsageError(
                    f"fault {entry.name!r} ({entry.asked}) of run {entry.run_id} acts on {', '.join(shared)} of the "
                    f"same Kafka cluster {entry.remaining(datetime.now(UTC))}",
                    hint="let that run end first; `devkit heal` undoes what a run left that was killed",
                )

    def require_free(self, claims: frozenset[str], *, except_for: Page | None = None) -> None:
        """Raises UsageError when a fault of this run that is not undone holds some of these claims."""
        for open_page in self.pages():
            entry = open_page.entry
            if (except_for is None or open_page.path != except_for.path) and (shared := clashes(claims, entry.claims)):
                origin = ", of the scenario's timeline," if entry.holder is None else ""
                raise UsageError(
                    f"fault {entry.name!r} ({entry.asked}){origin} acts on {', '.join(shared)} "
                    f"{entry.remaining(datetime.now(UTC))}",
                    hint="let one end before the other begins; `devkit fault list` shows what there is",
                )

    def pages(self) -> tuple[Page, ...]:
        """The faults that have begun and are not undone, oldest first; `unreadable` has the pages that are left out."""
        pages = (page for _path, page in self._read_pages() if page is not None)
        return tuple(sorted(pages, key=lambda page: page.entry.began))

    def unreadable(self) -> tuple[Path, ...]:
        """Pages that are damaged or of another version of the kit."""
        return tuple(sorted(path for path, page in self._read_pages() if page is None))

    def _read_pages(self) -> Iterator[tuple[Path, Page | None]]:
        for path in self.directory.glob(f"*{PAGE}"):
            try:
                yield path, Page(path, Entry.model_validate_json(path.read_bytes()))
            except FileNotFoundError:
                continue  # undone meanwhile
            except (OSError, ValidationError):
                yield path, None


def journals() -> tuple[Journal, ...]:
    """The journals of all runs that have faults which are not undone."""
    return tuple(Journal(path.name) for path in sorted(journal_directory("").glob("*")) if path.is_dir())
