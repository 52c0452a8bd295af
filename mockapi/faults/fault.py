"""What every fault is: a name, parameters that are checked, a change of the plan, and what else there is to say of it.

A fault is one file and one line of the registry; all that lists faults (the rule language with its schema, the docs,
`python -m mockapi faults`) or depends on one (clashes, the proof that it acted) is made of what stands here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, Literal, TypeVar

from mockapi.draws import Draw
from mockapi.faults.slots import Slot
from mockapi.plan import Plan
from mockapi.rules.proof import Met

Group = Literal["latency", "upstream", "proxy", "wiki", "body", "connection"]
P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Clash:
    """A key of the same rule, such as `body.encoding`, that a fault cannot stand beside, and what to do about it."""

    other: str
    hint: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What a rule says beside its faults: whether it `chooses` among requests, and after what time it ends."""

    chooses: bool
    ttl: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault(Generic[P]):
    """`name` is its key in a rule's `do`, under which stands what `takes` accepts, a pydantic annotation.
    `apply(plan, parameters, draw)` returns the plan with this fault in it. `deterministic` is whether what it does is a
    function of (seed, rule, key, attempt) alone; what depends on time, load or order is not.

    `summary` is a line; `docs` is what the documentation says in place of it, in Markdown; `example` is a value of
    the key that is worth showing.

    A fault acts on each request that it meets unless it has an `inaction`, which says why the journal does not show
    that it acted, or nothing when it does; for one that no journal can show, `not_observable` says why, and what comes
    near.

    It stands in a rule `alone`, or not beside a fault that claims one of the same slots, or not beside what `clash`
    names of all parameters of the rule. `suits` raises PydanticCustomError for terms of a rule that do not go with it.
    """

    name: str
    group: Group
    summary: str
    takes: Any
    example: object
    apply: Callable[[Plan, P, Draw], Plan]
    deterministic: bool = True
    docs: str = ""
    inaction: Callable[[P, Met], str] | None = None
    not_observable: str = ""
    alone: bool = False
    claims: tuple[Slot, ...] = ()
    clash: Callable[[P, Mapping[str, object]], Clash | None] | None = None
    suits: Callable[[P, Terms], None] | None = None
