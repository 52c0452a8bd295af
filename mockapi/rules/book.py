"""The effective rules and what they remember from request to request.

    rule ── comes into force ──> fires for each request it matches ──> expired (ttl) or spent (times), still listed

`when.nth`, `times` and `ttl` depend on order and time, so what they decide is no function of the seed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mockapi.clock import Later, Timer
from mockapi.draws import Draw
from mockapi.plan import NOTHING, Plan
from mockapi.rules.matching import Matching, Mismatch, Subject
from mockapi.rules.model import Rule

Phase = Literal["effective", "switched off", "expired", "spent"]


@dataclass(frozen=True, slots=True)
class RuleStatus:
    """A rule and how it stands. `ttl_remaining_s` and `times_remaining` are None where the rule has no such end;
    `matched` counts the requests that fit its `when`, apart from `nth`, and `fired` those that met its faults.
    """

    rule: Rule
    phase: Phase
    matched: int
    fired: int
    ttl_remaining_s: float | None
    times_remaining: int | None


class _Entry:
    """A rule with its memory."""

    __slots__ = ("fired", "from_s", "matched_by_wiki", "matching", "rule", "since_s", "timer")

    def __init__(self, rule: Rule, seed: int, since_s: float, from_s: float) -> None:
        self.rule = rule
        self.matching = Matching(rule, seed=seed, from_s=from_s)
        self.from_s = from_s
        self.since_s = since_s
        self.matched_by_wiki: Counter[str] = Counter()
        self.fired = 0
        self.timer: Timer | None = None

    def phase(self, now_s: float) -> Phase:
        rule = self.rule
        if rule.ttl is not None and now_s >= self.since_s + rule.ttl.total_seconds():
            return "expired"
        if rule.times is not None and self.fired >= rule.times:
            return "spent"
        return "effective" if rule.enabled else "switched off"


class RuleBook:
    """The rules of one world, in the order in which they apply.

    `monotonic` gives seconds from an arbitrary start; `later` calls a function after seconds, and is used for the ends
    of rules with a `ttl` once `begin` was called. `changed` is called with the effective rules whenever those
    may have changed. `elapsed` says how many seconds ago the first request came, None before it.
    """

    def __init__(
        self,
        seed: int,
        monotonic: Callable[[], float],
        later: Later,
        changed: Callable[[tuple[Rule, ...]], None] = lambda _: None,
        elapsed: Callable[[], float | None] = lambda: None,
    ) -> None:
        self._seed = seed
        self._monotonic = monotonic
        self._later = later
        self._changed = changed
        self._elapsed = elapsed
        self._entries: dict[str, _Entry] = {}
        self._begun = False

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, also those that are over or switched off."""
        return tuple(entry.rule for entry in self._entries.values())

    @property
    def effective(self) -> tuple[Rule, ...]:
        """The rules that can fire now."""
        now_s = self._monotonic()
        return tuple(entry.rule for entry in self._entries.values() if entry.phase(now_s) == "effective")

    def age_s(self, name: str, at_s: float) -> float:
        """For how long a rule had been effective `at_s` seconds after the first request, from that request on."""
        entry = self._entries.get(name)
        return at_s if entry is None else at_s - entry.from_s

    def statuses(self) -> tuple[RuleStatus, ...]:
        """A status for each rule, also for those that are switched off, spent or expired; in the rules' order."""
        now_s = self._monotonic()
        return tuple(_status(entry, now_s) for entry in self._entries.values())

    def replace(self, rules: Iterable[Rule]) -> None:
        """Puts `rules`, whose names differ, into force in place of all others; they begin anew."""
        self._put({rule.name: self._entry(rule) for rule in rules})

    def put(self, rule: Rule) -> None:
        """Adds `rule` at the end, or puts it in the place of the one of its name; it begins anew, the others go on."""
        self._put({**self._entries, rule.name: self._entry(rule)})

    def remove(self, name: str) -> None:
        """Takes a rule out. Raises KeyError."""
        removed = self._entries[name]
        self._put({key: entry for key, entry in self._entries.items() if entry is not removed})

    def switch(self, name: str, *, on: bool) -> None:
        """Switches a rule on or off; it keeps its counts, and its ttl goes on. Raises KeyError."""
        entry = self._entries[name]
        entry.rule = entry.rule.model_copy(update={"enabled": on})
        self._changed(self.effective)

    def match(self, subject: Subject) -> tuple[Rule, ...]:
        """The rules that apply to a request that has come in; it counts towards what they remember."""
        if not self._entries:
            return ()
        now_s = self._monotonic()
        fired = []
        spent = False
        for entry in self._entries.values():
            if entry.phase(now_s) != "effective" or not entry.matching.holds(subject):
                continue
            entry.matched_by_wiki[subject.wiki] += 1
            nth = entry.rule.when.nth
            if nth is None or nth.hold(entry.matched_by_wiki[subject.wiki]):
                entry.fired += 1
                spent = spent or entry.rule.times == entry.fired
                fired.append(entry.rule)
        if spent:
            self._changed(self.effective)
        return tuple(fired)

    def peek(self, subject: Subject) -> tuple[Rule, ...]:
        """The rules that fit; nothing counts, so `nth` is left out of account."""
        now_s = self._monotonic()
        return tuple(
            entry.rule
            for entry in self._entries.values()
            if entry.phase(now_s) == "effective" and entry.matching.holds(subject)
        )

    def explain(self, name: str, subject: Subject, fired: Sequence[str]) -> tuple[Mismatch, ...]:
        """Why a rule is not among those that `fired` for a request; empty when it is. Raises KeyError."""
        entry = self._entries[name]
        if name in fired:
            return ()
        mismatches = tuple(entry.matching.mismatches(subject))
        if mismatches:
            return mismatches
        phase = entry.phase(self._monotonic())
        if phase != "effective":
            return (Mismatch("rule", "effective", phase),)
        if entry.rule.when.nth is not None:
            return (Mismatch("nth", entry.rule.when.nth.model_dump_json(exclude_none=True), "another request"),)
        return (Mismatch("rule", "effective", "not yet effective when the request came in"),)

    def begin(self) -> None:
        """From now on there is a loop for `later`, and the ends of rules are noticed as they come."""
        self._begun = True
        self._arm()

    def close(self) -> None:
        """Cancels the timers of rules with a `ttl`; `begin` starts them again."""
        self._begun = False
        for entry in self._entries.values():
            _stop(entry)

    def _entry(self, rule: Rule) -> _Entry:
        return _Entry(rule, self._seed, self._monotonic(), self._elapsed() or 0.0)

    def _put(self, entries: dict[str, _Entry]) -> None:
        for name, entry in self._entries.items():
            if entries.get(name) is not entry:
                _stop(entry)
        self._entries = entries
        self._arm()
        self._changed(self.effective)

    def _arm(self) -> None:
        if not self._begun:
            return
        for entry in self._entries.values():
            if entry.rule.ttl is not None and entry.timer is None:
                remaining_s = entry.since_s + entry.rule.ttl.total_seconds() - self._monotonic()
                entry.timer = self._later(max(0.0, remaining_s), lambda: self._changed(self.effective))


def _stop(entry: _Entry) -> None:
    if entry.timer is not None:
        entry.timer.cancel()
        entry.timer = None


def _status(entry: _Entry, now_s: float) -> RuleStatus:
    rule = entry.rule
    ttl_remaining_s = None if rule.ttl is None else max(0.0, entry.since_s + rule.ttl.total_seconds() - now_s)
    times_remaining = None if rule.times is None else max(0, rule.times - entry.fired)
    return RuleStatus(
        rule, entry.phase(now_s), entry.matched_by_wiki.total(), entry.fired, ttl_remaining_s, times_remaining
    )


def plan_for(
    rules: Sequence[Rule], *, seed: int, key: str, attempt: int, age_s: Callable[[str], float] = lambda _: 0.0
) -> Plan:
    """The plan that `rules`, all of which match, make in their order; draws are a function of the arguments.

    `age_s` says how long a rule, by its name, has been effective: for what depends on time.
    """
    if not rules:
        return NOTHING
    plan = replace(NOTHING, rules=tuple(rule.name for rule in rules))
    for rule in rules:
        draw = Draw(seed, rule.name, key, attempt, age_s(rule.name))
        for fault, parameters in rule.do.given():
            plan = fault.apply(plan, parameters, draw)
    return plan
