"""What a scenario asks of its stack."""

from dataclasses import replace

from devkit.scenario.configure import programs_of, topics_made_afresh
from devkit.scenario.model import Scenario
from devkit.scenario.options import RunOptions
from devkit.stack.stack import StackRequest


def stack_request(scenario: Scenario, options: RunOptions) -> StackRequest:
    """What the stack is asked for: also the brokers, and a proxy before each part that a fault needs one for."""
    needs = (need for item in scenario.timeline for need in item.do.needs())
    return replace(
        options.request,
        topics=topics_made_afresh(scenario, options.arms, programs_of(scenario, options.instead).values()),
        brokers=scenario.kafka.brokers,
        proxied=frozenset(need.part for need in needs if need.proxied),
        limits=scenario.container,
    )
