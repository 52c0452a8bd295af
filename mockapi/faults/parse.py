"""Parse: how long a render holds the wiki's parser.

Only what renders a page parses: an error, a rule's or the wiki's own, takes no time of the parser. Nothing stops a
parse that has come in, neither a client that disconnects nor a proxy that gives up. Where no capacity bounds them, any
number goes on at once, and the parse is simply time that the answer takes.
"""

from dataclasses import replace

from mockapi.draws import Draw
from mockapi.faults.fault import Fault
from mockapi.plan import Plan
from mockapi.values.drawn_time import DrawnTime, FiniteTime, drawn_end, noted


def apply(plan: Plan, time: DrawnTime, draw: Draw) -> Plan:
    """Sets the time, replacing that of an earlier rule."""
    length = drawn_end(time, draw, "parse")
    return replace(plan, parse=length, draws={**plan.draws, **noted("parse_s", length)})


FAULT = Fault(
    name="parse",
    group="upstream",
    summary="how long a render holds the wiki's parser",
    docs="a time for which a render holds the parser. Errors do not parse; a parse goes on when its client disconnects",
    takes=FiniteTime,
    example={"p50": "40ms", "p99": "10s"},
    apply=apply,
)
