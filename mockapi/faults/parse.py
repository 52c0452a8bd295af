"""Parse: how long a render holds the wiki's parser.

Only what renders a page parses: an error, a rule's or the wiki's own, takes no time of the parser. Nothing stops a
parse that has come in, neither a client that leaves nor a proxy that gives up. Where no capacity bounds them, any
number goes on at once, and the parse is simply time that the answer takes.
"""

from dataclasses import replace

from mockapi.draws import Draw
from mockapi.faults.drawn_time import drawn
from mockapi.faults.plan import Plan
from mockapi.rules.model import Do


def apply(plan: Plan, do: Do, draw: Draw) -> Plan:
    """Sets the time, replacing that of an earlier rule."""
    if do.parse is None:
        return plan
    time = drawn(do.parse, draw, "parse")
    return replace(plan, parse=time, draws={**plan.draws, "parse_s": time.total_seconds()})
