from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from devkit.errors import UsageError
from devkit.observe.arm_role import ROLES
from devkit.play.options import RunOptions, stack_request
from devkit.play.topics_to_make import topics_to_make
from devkit.programs.places import NOWHERE
from devkit.programs.program_base import ProgramBase
from devkit.programs.program_topics import ProgramTopics
from devkit.programs.spark.configuration import configuration, topics_of
from devkit.scenario.model import Scenario
from devkit.scenario.resolve import resolve
from devkit.scenario.stack_settings import Topics
from located_config import registry
from located_config.registry import Addition

OPTIONS = RunOptions(ROLES, Path("runs"), keep=False, repeat="devkit scenario run an-incident")
SOURCE, OUTPUT = "mediawiki.page_change.v1", "mediawiki.page_html_content_change.v1"
ERROR = "mw_page_html_content_change_enrich.error"
DEFERRED = "mw_page_html_content_change_enrich.deferred"


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


def made(topics: dict[str, Any], policy: str) -> dict[str, tuple[int, dict[str, str]]]:
    return topics_to_make(
        Topics.model_validate(topics), ProgramTopics((SOURCE,), OUTPUT, ERROR, DEFERRED, policy == "defer")
    )


def test_each_has_its_own_settings_and_the_brokers_clock() -> None:
    wanted = made({"source": {"partitions": 3}, "output": {"max.message.bytes": "32MiB"}}, "none")
    assert wanted == {
        SOURCE: (3, {"message.timestamp.type": "LogAppendTime"}),
        OUTPUT: (1, {"max.message.bytes": "33554432", "message.timestamp.type": "LogAppendTime"}),
        ERROR: (1, {"message.timestamp.type": "LogAppendTime"}),
    }


def test_every_source_topic_is_made() -> None:
    names = ProgramTopics((SOURCE, "links"), OUTPUT, ERROR, DEFERRED, defers=False)
    wanted = topics_to_make(Topics.model_validate({"source": {"partitions": 3}}), names)
    assert wanted["links"] == wanted[SOURCE] == (3, {"message.timestamp.type": "LogAppendTime"})
    assert "links" in names.names()


def test_sources_whose_records_have_their_own_time_keep_them_whatever_their_age() -> None:
    names = ProgramTopics((SOURCE, "links"), OUTPUT, ERROR, DEFERRED, defers=False)
    wanted = topics_to_make(Topics(), names, own_times=True)
    _, settings = wanted[SOURCE]
    assert wanted["links"] == wanted[SOURCE]
    assert (settings["message.timestamp.type"], settings["retention.ms"]) == ("CreateTime", "-1")
    assert wanted[OUTPUT][1] == wanted[ERROR][1] == {"message.timestamp.type": "LogAppendTime"}


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ({}, "LogAppendTime"),
        ({"read": "aligned"}, "CreateTime"),
        ({"deduplicate": {"within": "10s"}}, "CreateTime"),
        ({"deduplicate": {"within": "ever"}}, "LogAppendTime"),
    ],
)
def test_sources_of_a_program_that_goes_by_event_time_have_it(source: dict[str, Any], kind: str) -> None:
    config = configuration(NOWHERE, {"source": {"topics": [SOURCE, "links"], **source}})
    wanted = topics_to_make(Topics(), topics_of(config))
    assert {wanted[one][1]["message.timestamp.type"] for one in (SOURCE, "links")} == {kind}


@pytest.mark.parametrize(("source", "source_bytes"), [({}, 1_048_588), ({"max.message.bytes": "8MiB"}, 8_388_608)])
def test_the_deferral_topic_is_compacted_and_takes_what_the_source_does(
    source: dict[str, Any], source_bytes: int
) -> None:
    partitions, settings = made({"source": source}, "defer")[DEFERRED]
    assert partitions == 1
    assert settings["max.message.bytes"] == str(source_bytes + 65_536)
    assert settings["cleanup.policy"] == "compact"
    assert int(settings["min.compaction.lag.ms"]) >= 3_600_000


@pytest.mark.parametrize(("job", "wanted"), [("rdf-resolve", ["rdf-streaming-updater.fetch-failure"]), (None, [])])
def test_fetch_failures_have_a_topic_like_that_of_error_events(job: str | None, wanted: list[str]) -> None:
    names = topics_of(configuration(NOWHERE, {}, job))
    made = topics_to_make(Topics.model_validate({"error": {"partitions": 2, "max.message.bytes": "2MiB"}}), names)
    assert names.errors == (names.error, *wanted)
    assert set(names.errors) < set(names.names())
    assert [topic for topic, settings in made.items() if settings == made[names.error]] == [names.error, *wanted]


def test_lapsed_events_have_a_topic_where_the_program_makes_some() -> None:
    names = ProgramTopics((SOURCE,), OUTPUT, ERROR, DEFERRED, defers=False, lapsed="lapsed")
    assert topics_to_make(Topics(), names)["lapsed"] == (1, {"message.timestamp.type": "LogAppendTime"})
    assert "lapsed" in names.names()
