"""Probes the wikis whose breaker is open, while the main lane waits and sends them no requests."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from pipeline.deferral.outages import Outages
from pipeline.fetch.breaker import Answer, Ask

Probe = Callable[[str, Ask, Callable[[], bool]], Answer | None]
"""Makes one request to a wiki, by its id; None as soon as it is stopped, which the last argument tells."""

# Wikis that hang must not keep the others waiting.
_AT_ONCE = 8


class Prober:
    """`look` now and then; it returns when all probes that were due have been answered, or it is stopped."""

    def __init__(self, outages: Outages, probe: Probe, stopped: Callable[[], bool]) -> None:
        self._outages, self._probe, self._stopped = outages, probe, stopped

    def look(self) -> None:
        """Ask every wiki whose probe is due, a few at once, and wait for the answers."""
        due = self._outages.due()
        if not due:
            return
        with ThreadPoolExecutor(min(_AT_ONCE, len(due)), thread_name_prefix="probe") as threads:
            for _ in threads.map(self._ask, *zip(*due, strict=True)):
                pass

    def _ask(self, wiki_id: str, ask: Ask) -> None:
        answer = self._probe(wiki_id, ask, self._stopped)
        if answer is not None:
            self._outages.probed(wiki_id, ask, answer)
