"""All faults, by their keys in a rule's `do`; and the plan that rules make of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from mockapi.draws import Draw
from mockapi.faults import (
    bandwidth,
    body,
    capacity,
    charset,
    close,
    content_encoding,
    content_length,
    database_lag,
    degradation,
    dribble,
    garbage,
    gateway_timeout,
    hang,
    hidden,
    invalid_utf8,
    keep_alive,
    latency,
    latency_before_body,
    latency_through_body,
    malformed_chunk,
    missing,
    parse,
    parser_cache,
    rate_limit,
    refuse,
    replica_lag,
    reset,
    status,
    truncate,
)
from mockapi.faults.fault import Fault
from mockapi.plan import NOTHING, Plan
from mockapi.rules.model import Rule

FAULTS: Final[Mapping[str, Fault]] = MappingProxyType(
    {
        fault.name: fault
        for fault in (
            rate_limit.FAULT,
            latency.FAULT,
            degradation.FAULT,
            latency_before_body.FAULT,
            latency_through_body.FAULT,
            parse.FAULT,
            capacity.FAULT,
            gateway_timeout.FAULT,
            status.FAULT,
            missing.FAULT,
            hidden.FAULT,
            replica_lag.FAULT,
            database_lag.FAULT,
            parser_cache.FAULT,
            body.FAULT,
            content_length.FAULT,
            content_encoding.FAULT,
            charset.FAULT,
            invalid_utf8.FAULT,
            truncate.FAULT,
            dribble.FAULT,
            bandwidth.FAULT,
            refuse.FAULT,
            hang.FAULT,
            reset.FAULT,
            close.FAULT,
            malformed_chunk.FAULT,
            garbage.FAULT,
            keep_alive.FAULT,
        )
    }
)


def plan_for(
    rules: Sequence[Rule], *, seed: int, key: str, attempt: int, age_s: Callable[[str], float] = lambda _: 0.0
) -> Plan:
    """The plan that `rules`, all of which match, make in their order; draws are a function of the arguments.

    `age_s` says how long a rule, by its name, has been in force: for what depends on time.
    """
    if not rules:
        return NOTHING
    plan = replace(NOTHING, rules=tuple(rule.name for rule in rules))
    for rule in rules:
        draw = Draw(seed, rule.name, key, attempt, age_s(rule.name))
        for name, parameters in rule.do:
            if parameters is not None:
                plan = FAULTS[name].apply(plan, parameters, draw)
    return plan
