"""What a scenario asks of its stack."""

from dataclasses import replace

from devkit.extensions import require_here
from devkit.scenario.configure import programs_of, topics_made_afresh
from devkit.scenario.model import Scenario
from devkit.scenario.options import RunOptions
from devkit.stack.stack import StackRequest

CONTAINERS = ("compose", "testcontainers")


def stack_request(scenario: Scenario, options: RunOptions) -> StackRequest:
    """What the stack is asked for: also the brokers, and a proxy before each part that the timeline needs one for.

    Raises UsageError for what the stack cannot know: a fault that an extension added to the mock.
    """
    if options.stack in CONTAINERS:
        faults = (fault.name for _, rule in scenario.rules_at() for fault, _ in rule.do.given())
        require_here("fault of the mock", faults, where=f"the mock's image of the {options.stack} stack")
    programs = programs_of(scenario, options.instead)

    def fetch() -> None:
        for program in programs.values():
            program.fetch()

    return replace(
        options.request,
        topics=topics_made_afresh(scenario, options.arms, programs),
        brokers=scenario.kafka.brokers,
        proxied=frozenset(part for _, item, _ in scenario.timeline_at() for part in item.proxied),
        limits=next(filter(None, (scenario.for_arm(arm).container for arm in options.arms)), None),
        meanwhile=fetch,
    )
