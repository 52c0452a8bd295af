"""Probes what has an open breaker, while the main lane sends it no requests."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from pipeline.deferral.outages import Outages
from pipeline.fetch.ask import Ask
from pipeline.fetch.breaker import Answer, Scope

Probe = Callable[[str, Ask, Callable[[], bool]], Answer | None]
"""Makes one request to a wiki, by its id; None as soon as it is stopped, which the last argument tells."""

# Wikis that hang must not keep the others waiting for long, nor the endpoint's probe, should it open.
_AT_ONCE = 8


class Prober:
    """`look` now and then; it returns when the probes that it made have been answered, or it is stopped."""

    def __init__(self, outages: Outages, probe: Probe, stopped: Callable[[], bool]) -> None:
        self._outages, self._probe, self._stopped = outages, probe, stopped

    def look(self) -> None:
        """Ask for those probes that have been due for longest, a few at once, and wait for the answers."""
        due = self._outages.due(_AT_ONCE)
        if not due:
            return
        with ThreadPoolExecutor(len(due), thread_name_prefix="probe") as threads:
            for _ in threads.map(self._ask, *zip(*due, strict=True)):
                pass

    def _ask(self, scope: Scope, ask: Ask) -> None:
        answer = self._probe(scope or ask.wiki_id, ask, self._stopped)
        if answer is not None:
            self._outages.probed(scope, ask, answer)
