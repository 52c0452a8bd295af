"""The counts of the journal, as a client reads them."""

from pydantic import BaseModel


class RuleTotals(BaseModel):
    """What the journal counted for one rule; times are in seconds since the first request to the wiki.

    Of the requests that it met, those `in_flight` have not ended, and are in none of the other counts.
    """

    requests: int
    in_flight: int = 0
    completed: int
    by_status: dict[str, int] = {}
    changed_by: dict[str, int] = {}
    max_real_bytes: int
    max_wire_bytes: int
    max_content_length: int | None = None
    max_duration_s: float
    first_at_s: float | None = None
    last_at_s: float | None = None


_NOT_MET = RuleTotals(requests=0, completed=0, max_real_bytes=0, max_wire_bytes=0, max_duration_s=0)


class LatencyTotals(BaseModel):
    """How many requests took how long: `counts[n]` up to `le_s[n]` seconds and more than the bound before it.

    What took longer than the last bound is counted with it.
    """

    le_s: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()


class UpstreamTotals(BaseModel):
    """The load on the wiki's parser: `busy` and `queued` now, `max_queued` at most, the rest in all.

    `abandoned` of the finished `parses` had no client waiting any more; `parse_s` is the time of all of them.
    """

    busy: int = 0
    queued: int = 0
    parses: int = 0
    abandoned: int = 0
    parse_s: float = 0
    max_queued: int = 0


class ConnectionTotals(BaseModel):
    """`opened` carried a request to the wiki, the `refused` among these were reset for want of a place."""

    opened: int = 0
    refused: int = 0


class JournalTotals(BaseModel):
    """What the journal counted since the state was set, of requests that have ended.

    `fetches` are first attempts. `clock_s` counts from the first request to the wiki and is None before. `revision`
    counts the changes by the mock's control since its start. `last_at_s` is when the last request came
    in, by that clock.
    """

    clock_s: float | None = None
    requests: int
    fetches: int = 0
    max_attempt: int = 0
    in_flight: int
    by_status: dict[str, int]
    latency: LatencyTotals = LatencyTotals()
    upstream: UpstreamTotals = UpstreamTotals()
    connections: ConnectionTotals = ConnectionTotals()
    rules: dict[str, RuleTotals]
    revision: int = 0
    last_at_s: float | None = None

    def of(self, rule: str) -> RuleTotals:
        """The counts of one rule; all 0 for a rule that was removed."""
        return self.rules.get(rule, _NOT_MET)
