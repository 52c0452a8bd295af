"""The wiki's parser: a pool for each rule with a capacity, and one without a bound for the parses of no such rule."""

from collections.abc import Callable, Sequence

from mockapi.clock import Later
from mockapi.faults.capacity import FAULT, Capacity
from mockapi.rules.model import Rule
from mockapi.upstream.load import Load, UpstreamCounts
from mockapi.upstream.pool import Parse, Pool


class Parser:
    """The parser of one world; its pools follow the effective rules."""

    def __init__(self, monotonic: Callable[[], float], later: Later) -> None:
        self._monotonic = monotonic
        self._later = later
        self._load = Load()
        self._unbounded = self._pool(None)
        self._pools: dict[str, Pool] = {}

    def follow(self, rules: Sequence[Rule]) -> None:
        """Takes over the capacities of `rules`. Without its rule a pool has no bound: what queued there begins now."""
        capacities = {rule.name: given for rule in rules if (given := rule.do.of(FAULT)) is not None}
        for name, pool in self._pools.items():
            pool.resize(capacities.get(name))
        # A pool keeps what is under way while its rule is away, and counts it again when a rule of that name returns.
        kept = {name: pool for name, pool in self._pools.items() if name in capacities or not pool.idle}
        made = {name: self._pool(capacity) for name, capacity in capacities.items() if name not in kept}
        self._pools = kept | made

    def begin(self, seconds: float, rule: str | None, finished: Callable[[], None] | None = None) -> Parse:
        """A parse of `seconds` that counts towards the capacity of `rule`; `finished` is called when it is through.

        Raises QueueFull.
        """
        # A rule that was spent by this very request has no pool of its own any more.
        pool = self._unbounded if rule is None else self._pools.get(rule, self._unbounded)
        return pool.begin(seconds, finished)

    def counts(self) -> UpstreamCounts:
        """Over all pools, the one without a bound included."""
        return self._load.counts()

    def loads(self) -> dict[str, UpstreamCounts]:
        """The load of each pool by the rule of its capacity; that of the parses of no such rule under ""."""
        return {name: pool.load.counts() for name, pool in {"": self._unbounded, **self._pools}.items()}

    def forget(self) -> None:
        """Sets counts to 0; parses that are under way go on and count as busy."""
        for load in (self._load, self._unbounded.load, *(pool.load for pool in self._pools.values())):
            load.forget()

    def retire(self) -> None:
        """Ends every parse without a waiting client, now and from now on: the parser's world is gone."""
        for pool in (self._unbounded, *self._pools.values()):
            pool.retire()

    def _pool(self, capacity: Capacity | None) -> Pool:
        return Pool(capacity, Load(self._load), self._monotonic, self._later)
