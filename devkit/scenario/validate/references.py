"""Parts of an arm, pages and partitions that an expectation names and its scenario does not have."""

from collections.abc import Iterator

from devkit.expectations import Expectation
from devkit.expectations.lag import LagBound
from devkit.expectations.of_samples import InPhase
from devkit.scenario.resolve import ResolvedArm
from devkit.traffic.model import TRAFFIC
from located_config.near import near_miss


def check_references(arm: ResolvedArm, expectation: Expectation) -> Iterator[tuple[str, str]]:
    """What is wrong, behind the key of the expectation's argument where it stands."""
    argument = expectation.argument
    if isinstance(argument, InPhase) and argument.phase is not None:
        faults = [item.name for item in arm.timeline]
        faults += [rule.name for rule in arm.rules if rule.has_window]
        known = [*faults, *arm.scenario.traffic.named_phases, TRAFFIC]
        if argument.phase not in known:
            text = f"nothing of this arm is called {argument.phase!r}; {near_miss(argument.phase, known)}"
            yield "during" if argument.during else "after", text
    if isinstance(argument, LagBound):
        yield from _of_lag(arm, argument)


def _of_lag(arm: ResolvedArm, lag: LagBound) -> Iterator[tuple[str, str]]:
    traffic = arm.scenario.traffic
    pages = [title.replace("_", " ") for title in traffic.titles]
    if lag.page is not None and lag.page.replace("_", " ") not in pages:
        yield "page", f"there is no page {lag.page!r} in traffic.pages; {traffic.remedy_for_page(lag.page)}"
    if lag.partition is None or arm.main.refusal:
        return
    count, sources = arm.scenario.kafka.topics.source.partitions, arm.main.configured.topics.sources
    if count * len(sources) == 1:
        yield "partition", "there is one source partition only: leave it out, or raise kafka.topics.source.partitions"
    elif lag.partition >= count:
        yield "partition", f"there are {count} source partitions, the last is {count - 1}"
    if lag.topic is None and len(sources) > 1:
        yield "partition", f"write the topic as well, one of {', '.join(sources)}"
    elif lag.topic is not None and lag.topic not in sources:
        yield "topic", f"the main program does not read {lag.topic!r}; {near_miss(lag.topic, sources)}"
