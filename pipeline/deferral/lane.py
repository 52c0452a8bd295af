"""What a lane does with one event; decisions only, made page by page in the order of positions.

    main lane    admit ─▶ drop (its entry is unchanged) │ hold (becomes a waiting entry) │ run ─▶ emit │ defer
    slow lane    admit ─▶ skip (unchanged)              │ run ─▶ emit │ failed: a later round, or an error event

Results may be computed ahead and at the same time, so ask `admit` again when the event's turn has come: if an earlier
event of its page was deferred meanwhile, its result is thrown away.

Topics are written side by side, and a crash may keep a later record of one and lose an earlier one of another. So a
page's events of one batch, or one round, all go to the same topic: when it would change, `may_emit` says no, and the
rest of the page is for the next batch, or round. An event whose records go to several goes by the first of them.
"""

from dataclasses import dataclass, replace
from typing import Literal

from pipeline.deferral.entry import Cause, Entry, Kind, Page, order
from pipeline.deferral.snapshot import UNRESERVED, Fence, Reservation
from pipeline.records.record import Headers, Position

Admission = Literal["drop", "hold", "run"]
Destination = str
"""The topic of a record."""
WAITS = "waits for an earlier event of its page"

# For a job that defers nothing, and so has no ledger.
OPEN_FENCE = Fence(blocked={}, unreserved=frozenset(), reserved={})


@dataclass(frozen=True, slots=True)
class Policy:
    """How long an event is tried, and how often. `total_attempts` counts all tries, that of the main lane included."""

    inline_allowance_s: float
    slow_deadline_s: float
    total_attempts: int
    backoff_base_s: float
    backoff_cap_s: float

    def backoff_ms(self, attempt: int, retry_after_s: float | None = None) -> int:
        """How long an event rests after its try number `attempt`, from 1: doubled each time, and at least what the
        upstream asked for; both only up to the cap.
        """
        # Far beyond any cap, and still a factor that a float can hold.
        factor = 1 << min(max(attempt - 1, 0), 63)
        return round(1000 * min(self.backoff_cap_s, max(self.backoff_base_s * factor, retry_after_s or 0.0)))


class _Destinations:
    """Which topic each page writes to in this batch or round."""

    def __init__(self) -> None:
        self._of: dict[Page, Destination] = {}

    def may_emit(self, page: Page, destination: Destination) -> bool:
        return self._of.setdefault(page, destination) == destination


class MainLane:
    """One task of a batch. It has all rows of its pages, in the order of positions within each page."""

    def __init__(self, fence: Fence) -> None:
        self._fence = fence
        self._deferred: set[Page] = set()
        self._destinations = _Destinations()

    def admit(self, position: Position, page: Page) -> Admission:
        """`drop`: the ledger has it, and it is not this batch's. `hold`: `defer` it without a request. Else `run`.

        A `run` before the event's turn is good only until then; `drop` and `hold` are final.
        """
        if position in self._fence.unreserved:
            return "drop"
        blocked = self._fence.blocked.get(page)
        if page in self._deferred or (blocked is not None and order(position) >= order(blocked)):
            return "hold"
        return "run"

    def may_emit(self, page: Page, destination: Destination) -> bool:
        """Whether the event whose turn it is may go there; it then has to. Otherwise `defer` it."""
        return self._destinations.may_emit(page, destination)

    def hold_page(self, page: Page) -> None:
        """Defer all later events of the page in this batch."""
        self._deferred.add(page)

    def reservation(self, position: Position) -> Reservation:
        """The ledger's reservation of the row; a dropped one becomes an error event without a fetch."""
        return self._fence.reserved.get(position, UNRESERVED)

    def defer(
        self,
        position: Position,
        *,
        key: bytes | None,
        value: bytes | None,
        appended_us: int,
        reason: str = WAITS,
        cause: Cause | None = None,
        is_tried: bool = False,
        not_before_ms: int = 0,
        wiki_id: str | None = None,
        headers: Headers = (),
        counted: tuple[Position, ...] | None = None,
    ) -> Entry:
        """The entry of an event; later events of the page are held from now on.

        `is_tried`: it was tried and did not finish, which counts as a try. Else it waits, for its page's sake or
        `reason`.
        """
        reservation = self.reservation(position)
        if reservation.dropped and not is_tried:
            reason, cause = reservation.reason, reservation.cause
        kind: Kind = "stuck" if is_tried else "waiting"
        attempt = reservation.attempt + is_tried
        wiki_id = wiki_id or reservation.wiki_id
        entry = Entry(
            position,
            key,
            value,
            appended_us,
            kind,
            attempt,
            not_before_ms,
            reason,
            reservation.dropped,
            cause,
            wiki_id,
            headers,
            counted,
        )
        self.hold_page(entry.page)
        return entry


class SlowLane:
    """The pages of one slow round, or of one task of it."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._stopped_pages: set[Page] = set()
        self._destinations = _Destinations()

    def admit(self, page: Page) -> Literal["skip", "run"]:
        """`skip`: an earlier entry of the page was not emitted, so this one stays deferred."""
        return "skip" if page in self._stopped_pages else "run"

    def postpone(self, page: Page) -> None:
        """The rest of the page is for a later round."""
        self._stopped_pages.add(page)

    def may_emit(self, page: Page, destination: Destination) -> bool:
        """Whether the entry whose turn it is may go there; it then has to. Otherwise it and the rest are unchanged."""
        allowed = self._destinations.may_emit(page, destination)
        if not allowed:
            self._stopped_pages.add(page)
        return allowed

    def failed(self, entry: Entry, *, now_ms: int, reason: str, retry_after_s: float | None = None) -> Entry | None:
        """The entry to write after a try that may succeed later; the rest of the page is unchanged.

        None when it was the last try: the event becomes an error event, and the page goes on. `retry_after_s` is what
        the upstream asked for.
        """
        attempt = entry.attempt + 1
        if attempt >= self._policy.total_attempts:
            return None
        self._stopped_pages.add(entry.page)
        not_before_ms = now_ms + self._policy.backoff_ms(attempt, retry_after_s)
        return replace(entry, kind="stuck", attempt=attempt, not_before_ms=not_before_ms, reason=reason, cause=None)
