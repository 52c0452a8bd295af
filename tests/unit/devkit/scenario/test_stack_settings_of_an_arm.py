"""What an arm has around its programs of its own: topics, mock rules, a container, a start."""

from datetime import timedelta

import pytest

from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from devkit.scenario.stretch import stretch_scenario
from tests.unit.devkit.conftest import Load
from tests.unit.devkit.headroom.durations import durations

OWN = """  fixed:
    kafka: { topics: { output: { max.message.bytes: 1MiB } } }
    container: { memory: 1GiB }
    start: latest
    mock:
      rules:
        - { name: huge page, when: { page: Huge }, do: { latency: 2s } }
        - { name: later, do: { latency: 1s } }
"""


@pytest.fixture
def own(load: Load) -> Scenario:
    return load(("  fixed:\n", OWN))


def test_a_topic_has_what_is_written_and_the_rest_is_shared(own: Scenario) -> None:
    topics = own.for_arm("fixed").kafka.topics
    assert topics.output.kafka_settings() == {"max.message.bytes": str(1 << 20)}
    assert topics.source == own.kafka.topics.source
    assert own.for_arm("incident").kafka == own.kafka


def test_a_rule_takes_the_place_of_one_of_its_name_and_others_come_behind(own: Scenario) -> None:
    assert [rule.name for rule in own.for_arm("fixed").mock.rules] == ["huge page", "later"]
    assert own.for_arm("fixed").mock.rules[0] != own.mock.rules[0]
    assert own.for_arm("incident").mock == own.mock


def test_the_container_and_the_start_are_the_arms(own: Scenario) -> None:
    assert own.for_arm("incident").container is None
    container = own.for_arm("fixed").container
    assert container is not None
    assert container.memory == 1 << 30
    assert [own.arms[arm].start for arm in own.roles] == ["earliest", "latest"]


def test_all_of_it_is_in_the_difference(own: Scenario) -> None:
    difference = resolve(own).difference
    around = {
        key: values["fixed"] for key, values in difference.items() if key.split(".")[0] in ("kafka", "start", "mock")
    }
    assert around == {
        "kafka.topics.output.max.message.bytes": 1 << 20,
        "mock.huge page": "{when: {page: Huge}, do: {latency: {fixed: 2s}}}",
        "mock.later": "{do: {latency: {fixed: 1s}}}",
        "start": "latest",
    }
    assert difference["container"]["incident"] is None


def test_its_rules_are_stretched_as_the_shared_ones_are(own: Scenario) -> None:
    slower = stretch_scenario(resolve(own), 2).for_arm("fixed")
    assert list(durations(slower.mock.rules[1])) == [2 * one for one in durations(own.for_arm("fixed").mock.rules[1])]
    assert slower.supervisor.delay == timedelta(seconds=4)
