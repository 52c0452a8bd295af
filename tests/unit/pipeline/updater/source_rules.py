"""The updater's rules as its source has them (wikidata-query-rdf at c0106189), as data and as a model that shares no
code with the pipeline's: `MutationResolver` is the table, `ReorderAndDecideMutationOperation` the operator.
"""

from dataclasses import dataclass, field

from pipeline.updater.source_event import SourceEvent

NEWER, UNMATCHED, MISSED = "newer_revision_seen", "unmatched_delete", "missed_undelete"
# For a state, the revision of the event beside that of the state, and an action: the operation and whose revision it
# has, or why there is none. An operation that is doubtful has both.
_COLUMNS = ("revision-create", "page-delete", "page-undelete", "reconcile-creation", "reconcile-deletion")
_ROWS = {
    ("undefined", "any"): ("import event", NEWER, "import event", "reconcile event", "delete event"),
    ("created", "older"): (NEWER, NEWER, NEWER, "reconcile state", "reconcile state"),
    ("created", "same"): (
        *(NEWER, "delete event", UNMATCHED),
        *("reconcile event", "delete event reconcile_ambiguous_deletion"),
    ),
    ("created", "newer"): ("diff event", "delete event", NEWER, "reconcile event", "delete event"),
    ("deleted", "older"): (NEWER, NEWER, UNMATCHED, "delete state", "delete state"),
    ("deleted", "same"): (
        *(NEWER, NEWER, "import event"),
        *("reconcile event reconcile_ambiguous_creation", "delete event"),
    ),
    ("deleted", "newer"): (MISSED, NEWER, UNMATCHED, "reconcile event", "delete event"),
}
TABLE = {(*row, action): cell for row, cells in _ROWS.items() for action, cell in zip(_COLUMNS, cells, strict=True)}


@dataclass
class SourceModel:
    """One entity. An event comes alone, and each timer fires by itself; `said` is what came of it, as `described`."""

    window: int
    continue_at_once: bool
    status: str = "undefined"
    revision: int = 0
    watermark: int = -(10**15)
    buffer: list[SourceEvent] = field(default_factory=list)
    timers: set[int] = field(default_factory=set)
    said: list[str] = field(default_factory=list)

    def process(self, event: SourceEvent) -> None:
        if event.time_ms + self.window < self.watermark:
            self.said.append(f"late {event.rev}")
        elif self._is_buffered(event):
            self.buffer.append(event)
            self.timers.add(event.time_ms + self.window)
        else:
            self._fire(event)

    def advance(self, watermark: int) -> None:
        self.watermark = watermark
        while due := [timer for timer in self.timers if timer < watermark]:
            self.timers.remove(min(due))
            self._on_timer(min(due))

    def _is_buffered(self, event: SourceEvent) -> bool:
        if event.action.startswith("reconcile"):
            return False
        if self.continue_at_once and event.action == "revision-create" and event.parent and self.status == "created":
            if self.revision >= event.rev:
                return False
            if self.revision == event.parent:
                return bool(self.buffer)
        return True

    def _on_timer(self, timer: int) -> None:
        self.buffer.sort(key=lambda event: (event.rev, event.time_ms))
        last = max((i for i, event in enumerate(self.buffer) if event.time_ms + self.window <= timer), default=-1)
        fired, self.buffer = self.buffer[: last + 1], self.buffer[last + 1 :]
        for event in fired:
            self._fire(event)
            self.timers.discard(event.time_ms + self.window)
        self.timers |= {event.time_ms + self.window for event in self.buffer}

    def _fire(self, event: SourceEvent) -> None:
        beside = {"created": self.revision, "deleted": -self.revision, "undefined": 0}[self.status]
        if event.action == "reconcile-deletion" and event.rev == 0:
            self.said.append(f"delete {self.revision or 1}")
            self.status, self.revision = "undefined", 0
            return
        relation = "older" if event.rev < self.revision else "newer" if event.rev > self.revision else "same"
        row = ("undefined", "any") if self.status == "undefined" else (self.status, relation)
        cell = TABLE[*row, event.action]
        op, _, rest = cell.partition(" ")
        if not rest:
            self.said.append(f"{cell} {event.rev} beside {beside}")
            return
        whose, _, doubt = rest.partition(" ")
        if doubt:
            self.said.append(f"{doubt} {event.rev} beside {beside}")
        rev = event.rev if whose == "event" else self.revision
        self.said.append(f"{op} {rev}" + (f" from {self.revision}" if op == "diff" else ""))
        self.status, self.revision = "deleted" if op == "delete" else "created", rev
