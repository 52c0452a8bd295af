"""Whether a rule refuses connections now."""

from collections.abc import Callable

from mockapi.faults.refuse import FAULT
from mockapi.rules.model import Rule


class RefusalWatch:
    """`effective` gives the rules that are effective, `monotonic` seconds from an arbitrary start.

    A rule's time begins when it is first seen effective. A rule that was put again is a new one, and begins anew.
    """

    def __init__(self, effective: Callable[[], tuple[Rule, ...]], monotonic: Callable[[], float]) -> None:
        self._effective = effective
        self._monotonic = monotonic
        self._since: list[tuple[Rule, float]] = []

    def refuses(self) -> bool:
        """To be asked often: what a rule's time is depends on when it was first seen."""
        rules = [rule for rule in self._effective() if rule.do.has(FAULT)]
        if not rules:
            self._since.clear()
            return False
        now_s = self._monotonic()
        self._since = [(rule, self._first_seen(rule, now_s)) for rule in rules]
        return any(_lasts(rule, now_s - since_s) for rule, since_s in self._since)

    def _first_seen(self, rule: Rule, now_s: float) -> float:
        # The very rule, not an equal one: the same rule put once more is to begin once more.
        return next((since_s for known, since_s in self._since if known is rule), now_s)


def _lasts(rule: Rule, seconds: float) -> bool:
    refuse = rule.do.of(FAULT)
    return refuse is None or refuse.for_ is None or seconds < refuse.for_.total_seconds()
