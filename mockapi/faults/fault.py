"""What every fault is: a name, parameters that are checked, and a change of the plan."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from mockapi.draws import Draw
from mockapi.plan import Plan

Group = Literal["latency", "upstream", "proxy", "wiki", "body", "connection"]


@dataclass(frozen=True, slots=True)
class Fault:
    """`name` is its key in a rule's `do`; `apply(plan, parameters, draw)` returns the plan with this fault in it.

    `promised` is whether what it does is a function of (seed, rule, key, attempt) alone; what depends on time, load or
    order is not. `example` is a value of the key that is worth showing.
    """

    name: str
    group: Group
    summary: str
    example: object
    apply: Callable[[Plan, Any, Draw], Plan]
    promised: bool = True
