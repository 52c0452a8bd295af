"""Scenarios of more than two arms, and what an arm has around its programs of its own."""

from datetime import timedelta

import pytest

from devkit.observe.arm_role import ArmRole, Roles
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from devkit.scenario.stretch import stretch_scenario
from devkit.verdict.verdict import judge
from tests.unit.devkit.conftest import Load
from tests.unit.devkit.headroom.durations import durations
from tests.unit.devkit.verdict.test_verdict import FIRED, an_arm

HEADER = "  header:\n    role: incident\n    content_limit: { measure: content_length }\n"
LATER = "  later:\n    role: fixed\n    record_limit: { policy: serialized }\n    batch: { max_offsets: 7 }\n"
ROLES: Roles = {"incident": "incident", "header": "incident", "fixed": "fixed", "later": "fixed"}
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
def four(load: Load) -> Scenario:
    """With two more arms, which stand before those of the file."""
    return load(("arms:\n", f"arms:\n{LATER}{HEADER}"))


def test_incident_arms_are_played_first_and_have_the_expectations_of_their_role(four: Scenario) -> None:
    assert list(four.roles.items()) == [
        ("header", "incident"),
        ("incident", "incident"),
        ("later", "fixed"),
        ("fixed", "fixed"),
    ]
    assert four.expected_of("header") == four.expect["incident"]
    assert four.expected_of("later") == four.expect["fixed"]


def test_expectations_of_an_arm_stand_in_the_place_of_its_roles(load: Load) -> None:
    own = load(("arms:\n", f"arms:\n{HEADER}"), ("expect:\n", "expect:\n  header: [{ restarts: 0 }]\n"))
    assert [one.kind for one in own.expected_of("header")] == ["restarts"]
    assert len(own.expected_of("incident")) == 2


def test_the_difference_has_each_key_in_which_not_all_are_alike(four: Scenario) -> None:
    difference = resolve(four).difference
    assert difference["record_limit.policy"] == {
        "header": "serialized",
        "incident": "none",
        "later": "serialized",
        "fixed": "serialized",
    }
    assert difference["batch.max_offsets"]["later"] == 7
    assert set(difference) == {"content_limit.measure", "record_limit.policy", "batch.max_offsets"}


def test_a_role_in_the_timeline_means_every_arm_that_has_it(load: Load) -> None:
    items = (
        "timeline:\n  - { name: still, do: { pause: { part: kafka } }, at: 3s, for: 1s, arms: [incident] }\n"
        "  - { name: late, do: { pause: { part: kafka } }, at: 9s, for: 1s, arms: [later] }\n"
    )
    scenario = load(("arms:\n", f"{items}arms:\n{LATER}{HEADER}"))
    acting = {arm: [item.name for item in scenario.timeline_of(arm)] for arm in scenario.roles}
    assert acting == {"header": ["still"], "incident": ["still"], "later": ["late"], "fixed": []}
    assert resolve(scenario).difference["timeline.late"]["fixed"] == "not in this arm"


def test_all_of_them_are_stretched(four: Scenario) -> None:
    slower = stretch_scenario(resolve(four), 2)
    assert slower.roles == four.roles
    assert resolve(slower).difference.keys() == resolve(four).difference.keys()


@pytest.mark.parametrize(
    ("holds", "outcome", "exit_code"),
    [
        ({}, "reproduced and fixed", 0),
        ({"header": False}, "not reproduced", 1),
        ({"header": None}, "inconclusive", 3),
        ({"incident": None, "header": False}, "not reproduced", 1),
        ({"later": False}, "fix does not hold", 1),
        ({"later": None}, "inconclusive", 3),
        ({"fixed": None, "later": False}, "fix does not hold", 1),
        ({"header": None, "later": False}, "inconclusive", 3),
    ],
)
def test_every_arm_counts(holds: dict[str, bool | None], outcome: str, exit_code: int) -> None:
    arms = {arm: an_arm(holds=holds.get(arm, True)) for arm in ROLES}
    verdict = judge(arms, dict.fromkeys(ROLES, FIRED), ROLES)
    assert (verdict.outcome, verdict.exit_code) == (outcome, exit_code)


@pytest.mark.parametrize(
    ("role", "holds"), [("incident", True), ("incident", False), ("fixed", True), ("fixed", False)]
)
def test_arms_of_one_role_stand_for_themselves(role: ArmRole, holds: bool) -> None:
    played = [arm for arm, one in ROLES.items() if one == role]
    arms = {arm: an_arm(holds=True) for arm in played} | {played[1]: an_arm(holds=holds)}
    verdict = judge(arms, dict.fromkeys(played, FIRED), ROLES)
    assert verdict.outcome == f"{role} arm {'holds' if holds else 'does not hold'}"


def test_each_incident_arm_needs_a_fault() -> None:
    arms = {arm: an_arm(holds=True) for arm in ROLES}
    verdict = judge(arms, {**dict.fromkeys(ROLES, FIRED), "header": ()}, ROLES)
    assert (verdict.exit_code, verdict.reasons[0].partition(":")[0]) == (3, "header")


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
