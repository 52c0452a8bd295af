"""Whether each fault fired, from what the mock's journal counted.

A fault that acts on each request it meets (latency, status, body, parse time) fired when it met one; `share` and
`window` only say which requests it meets. What picks them by what clients do, such as `attempt`, may meet none of a
client that was fixed. A capacity, a gateway's timeout and a rate limit act under load only, and it may be the very
point of a fix that they no longer have to; so for those it is also told whether they acted: a request queued or turned
away, an answer of 504 or 429.
"""

from collections.abc import Iterator, Sequence

from devkit.observe.arm import Evidence
from devkit.stack.parts.mock_api import JournalCounts, RuleCounts
from mockapi.rules.model import Rule

_GATEWAY_TIMEOUT = "504"
_TOO_MANY = "429"


def rule_evidence(rules: Sequence[Rule], counts: JournalCounts) -> tuple[Evidence, ...]:
    """The evidence of each rule; one that the journal does not know met nothing."""
    return tuple(_of(rule, counts.rules[rule.name], counts) for rule in rules if rule.name in counts.rules)


def _of(rule: Rule, counted: RuleCounts, counts: JournalCounts) -> Evidence:
    inactions = list(_inactions(rule, counted, counts))
    do, when = rule.do, rule.when
    depends_on_load = any(fault is not None for fault in (do.capacity, do.gateway_timeout, do.rate_limit))
    by_client = any(one is not None for one in (when.attempt, when.nth, when.header, when.client, rule.times))
    return Evidence(
        fault=rule.name,
        fired=counted.requests > 0,
        requests=counted.requests,
        completed=counted.completed,
        max_content_length_bytes=counted.max_content_length,
        max_wire_bytes=counted.max_wire_bytes,
        max_real_bytes=counted.max_real_bytes,
        max_duration_s=counted.max_duration_s,
        by_status=dict(counted.by_status),
        first_at_s=counted.first_at_s,
        last_at_s=counted.last_at_s,
        acted=not inactions if depends_on_load else None,
        inaction="; ".join(inactions),
        by_client=by_client,
    )


def _inactions(rule: Rule, counted: RuleCounts, counts: JournalCounts) -> Iterator[str]:
    capacity = rule.do.capacity
    # The queues of all pools together: with several capacities, one that queued proves them all.
    if capacity is not None and not counts.upstream.max_queued and not counted.by_status.get(str(capacity.overflow)):
        yield "no request had to queue"
    if rule.do.gateway_timeout is not None and not counted.by_status.get(_GATEWAY_TIMEOUT):
        yield f"no answer was {_GATEWAY_TIMEOUT}"
    if rule.do.rate_limit is not None and not counted.by_status.get(_TOO_MANY):
        yield f"no answer was {_TOO_MANY}"
