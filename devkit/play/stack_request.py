"""What a scenario asks of its stack."""

from dataclasses import replace

from devkit.extensions import require_here
from devkit.play.options import RunOptions
from devkit.scenario.resolve import ResolvedScenario
from devkit.stack.stack import StackRequest

CONTAINERS = ("compose", "testcontainers")


def stack_request(resolved: ResolvedScenario, options: RunOptions) -> StackRequest:
    """What the stack is asked for: also the brokers, and a proxy before each part that the timeline needs one for.

    Raises UsageError for what the stack cannot know: a fault that an extension added to the mock.
    """
    scenario = resolved.scenario
    if options.stack in CONTAINERS:
        faults = (fault.name for _, rule in scenario.rules_at() for fault, _ in rule.do.given())
        require_here("fault of the mock", faults, where=f"the mock's image of the {options.stack} stack")

    def fetch() -> None:
        for program in resolved.programs.values():
            program.fetch()

    return replace(
        options.request,
        topics=resolved.topics_made_afresh(options.arms),
        brokers=scenario.kafka.brokers,
        proxied=frozenset(part for _, item, _ in scenario.timeline_at() for part in item.proxied),
        limits=next(filter(None, (resolved.arms[arm].scenario.container for arm in options.arms)), None),
        meanwhile=fetch,
    )
