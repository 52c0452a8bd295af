from pathlib import Path

from devkit.scenario.arm_name import ARMS
from devkit.scenario.model import Scenario
from devkit.scenario.options import RunOptions
from devkit.scenario.stack_request import stack_request

OPTIONS = RunOptions(ARMS, Path("runs"), keep=False, repeat="devkit scenario run an-incident")


def test_the_stack_is_asked_for_what_the_file_needs(scenario: Scenario) -> None:
    plain = stack_request(scenario, OPTIONS)
    assert (plain.brokers, plain.proxied, plain.limits) == (1, frozenset(), None)
    assert "mediawiki.page_change.v1" in plain.topics
    slow = {"name": "slow", "do": {"network_latency": {"part": "kafka", "time": "1s"}}, "at": "1s"}
    dead = {"name": "dead", "do": {"kill": {"part": "mock-api"}}, "at": "1s"}
    waiting = {"name": "waiting", "do": {"kill_process": {"process": "driver"}}, "when": {"request": {"prefix": "x/"}}}
    given = scenario.model_dump(mode="json", by_alias=True, exclude_unset=True)
    faulty = Scenario.model_validate(
        given | {"timeline": [slow, dead, waiting], "kafka": {"brokers": 3}, "container": {"memory": "1GiB"}}
    )
    asked = stack_request(faulty, OPTIONS)
    assert (asked.brokers, asked.proxied) == (3, frozenset({"kafka", "object-store"}))
    assert asked.limits is not None
    assert asked.limits.memory == 1 << 30
