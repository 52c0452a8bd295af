from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from devkit.errors import UsageError
from devkit.observe.arm_role import ROLES
from devkit.play.options import RunOptions, stack_request
from devkit.programs.program_base import ProgramBase
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from located_config import registry
from located_config.registry import Addition

OPTIONS = RunOptions(ROLES, Path("runs"), keep=False, repeat="devkit scenario run an-incident")


def test_the_stack_is_asked_for_what_the_file_needs(scenario: Scenario) -> None:
    plain = stack_request(resolve(scenario), OPTIONS)
    assert (plain.brokers, plain.proxied, plain.limits) == (1, frozenset(), None)
    assert "mediawiki.page_change.v1" in plain.topics
    slow = {"name": "slow", "do": {"network_latency": {"part": "kafka", "time": "1s"}}, "at": "1s"}
    dead = {"name": "dead", "do": {"kill": {"part": "mock-api"}}, "at": "1s"}
    waiting = {"name": "waiting", "do": {"kill_process": {"process": "driver"}}, "when": {"request": {"prefix": "x/"}}}
    given = scenario.model_dump(mode="json", by_alias=True, exclude_unset=True)
    faulty = Scenario.model_validate(
        given | {"timeline": [slow, dead, waiting], "kafka": {"brokers": 3}, "container": {"memory": "1GiB"}}
    )
    asked = stack_request(resolve(faulty), OPTIONS)
    assert (asked.brokers, asked.proxied) == (3, frozenset({"kafka", "object-store"}))
    assert asked.limits is not None
    assert asked.limits.memory == 1 << 30


@pytest.mark.parametrize(
    ("machine", "stack", "refused"),
    [
        pytest.param("", "embedded", "", id="fine"),
        pytest.param("this system refuses", "embedded", "this system refuses", id="machine"),
        pytest.param("", "compose", "a program with a memory limit runs in a container", id="container"),
    ],
)
def test_a_fault_of_names_is_refused_where_programs_cannot_have_them(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch, machine: str, stack: str, refused: str
) -> None:
    monkeypatch.setattr("devkit.play.options.refusal_of_hosts_file", lambda: machine)
    fault = {"name": "no name", "do": {"dns_error": {"part": "mock-api"}}, "at": "1s"}
    given = scenario.model_dump(mode="json", by_alias=True, exclude_unset=True)
    asked = resolve(Scenario.model_validate(given | {"timeline": [fault], "container": {"memory": "1GiB"}}))
    with pytest.raises(UsageError, match=f"fault 'no name' .*cannot be: {refused}") if refused else nullcontext():
        stack_request(asked, replace(OPTIONS, stack=stack))


@pytest.fixture
def _of_an_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the scenario's fault `body` were."""
    body = Addition("fault of the mock", "body", "my_fault", "/home/me/my_fault.py:7")
    monkeypatch.setattr(registry, "_additions", [body])


@pytest.mark.usefixtures("_of_an_extension")
@pytest.mark.parametrize("stack", ["compose", "testcontainers"])
def test_a_stack_of_containers_refuses_a_fault_that_its_mock_does_not_know(scenario: Scenario, stack: str) -> None:
    with pytest.raises(UsageError, match=f"the mock's image of the {stack} stack does not have that file"):
        stack_request(resolve(scenario), replace(OPTIONS, stack=stack))


@pytest.mark.usefixtures("_of_an_extension")
@pytest.mark.parametrize("stack", ["embedded", "external"])
def test_other_stacks_may_know_it(scenario: Scenario, stack: str) -> None:
    assert stack_request(resolve(scenario), replace(OPTIONS, stack=stack)).topics


def test_a_triple_store_is_asked_for_where_a_program_needs_one(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not stack_request(resolve(scenario), OPTIONS).triple_store
    monkeypatch.setattr(ProgramBase, "needs_triple_store", True)
    assert stack_request(resolve(scenario), OPTIONS).triple_store
