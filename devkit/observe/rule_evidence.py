"""Whether each fault fired, from what the mock's journal counted.

A fault that acts on each request it matches (latency, status, parse time) fired when it matched one. A rule that picks
requests by what clients do, such as `attempt`, may match none of a fixed client. Some faults act under load only, and
others may find nothing to change in an answer: those also report whether they acted.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from devkit.observe.arm_observation import Evidence, RuleSwitch
from mockapi.client.journal_counts import JournalTotals, RuleTotals
from mockapi.rules.model import Rule
from mockapi.rules.proof import Met


def rule_evidence(
    rules: Sequence[Rule], counts: JournalTotals, switches: Mapping[str, Sequence[RuleSwitch]] = MappingProxyType({})
) -> tuple[Evidence, ...]:
    """The evidence of each rule. A rule that the journal does not know, as an operator removed it, did not fire.

    `switches` has each rule that the kit switches.
    """
    return tuple(_of(rule, counts.of(rule.name), counts, switches.get(rule.name)) for rule in rules)


def _of(rule: Rule, counted: RuleTotals, counts: JournalTotals, switches: Sequence[RuleSwitch] | None) -> Evidence:
    inactions = rule.do.inactions(
        Met(counted.requests, counted.completed, counted.by_status, counts.upstream.max_queued, counted.changed_by)
    )
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
        acted=None if inactions is None else not inactions,
        inaction="; ".join(inactions or ()),
        by_client=rule.when.chooses_by_client or rule.times is not None,
        switches=None if switches is None else tuple(switches),
        window=_window(rule),
        last_request_s=counts.last_at_s,
    )


def _window(rule: Rule) -> tuple[float, float | None] | None:
    """Since the first request, as a rule of a scenario is effective from the start."""
    if (window := rule.when.window) is None:
        return None
    begin, lasts = window.from_.total_seconds(), window.for_
    return begin, None if lasts is None else begin + lasts.total_seconds()
