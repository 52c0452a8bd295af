from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from devkit.faults.timeline_item import TimelineItem
from devkit.observe.arm_role import ROLES, ArmName
from devkit.programs.places import NOWHERE, Places
from devkit.programs.spark.program import ConfiguredSpark
from devkit.scenario.model import Scenario
from devkit.scenario.programs import ProgramSpec
from devkit.scenario.resolve import resolve
from pipeline.config.pipeline_config import PipelineConfig
from tests.unit.devkit.conftest import Load
from tests.unit.devkit.scenario.arms_of import arms_of

PLACES = Places("127.0.0.1:9092", "http://127.0.0.1:8080", "http://127.0.0.1:9000", "s3a://checkpoints/x", "claims")


def configuration(scenario: Scenario, arm: ArmName, places: Places) -> PipelineConfig:
    """That of the pipeline."""
    program = resolve(scenario).arms[arm].main.at(places)
    assert isinstance(program, ConfiguredSpark)
    return program.config


def several_configuration(scenario: Scenario, arm: ArmName, name: str) -> PipelineConfig:
    """That of one of several programs."""
    program = resolve(scenario).arms[arm].programs[name].at(PLACES)
    assert isinstance(program, ConfiguredSpark)
    return program.config


def test_a_configuration_is_what_both_share_and_the_arm_and_the_places(scenario: Scenario) -> None:
    config = configuration(scenario, "incident", PLACES)
    assert config.batch.max_offsets == 50
    assert config.content_limit.measure == "content_length"
    assert config.record_limit.policy == "none"
    assert config.source.bootstrap_servers == config.sink.bootstrap_servers == "127.0.0.1:9092"
    assert config.mediawiki.endpoint == "http://127.0.0.1:8080"
    assert config.mediawiki.wikis == {"enwiki": "en.wikipedia.org"}
    assert config.checkpoint == "s3a://checkpoints/x"
    assert (config.claim_check.endpoint, config.claim_check.bucket) == ("http://127.0.0.1:9000", "claims")


class TestTriedFirst:
    def test_is_on_top_of_the_arm(self, scenario: Scenario) -> None:
        tried = {"incident": {"batch": {"max_offsets": 7}}}
        found = resolve(scenario.model_copy(update={"tried_first": tried})).arms["incident"].tried_first
        assert found is not None
        program, arm = found.at(PLACES), configuration(scenario, "incident", PLACES)
        assert isinstance(program, ConfiguredSpark)
        config = program.config
        assert config.batch.max_offsets == 7
        assert config.model_copy(update={"batch": arm.batch}) == arm

    def test_is_of_one_arm_only_and_says_nothing_of_the_difference(self, scenario: Scenario) -> None:
        tried = resolve(scenario.model_copy(update={"tried_first": {"fixed": {"batch": {"max_offsets": 7}}}}))
        assert [tried.arms[arm].tried_first is None for arm in ("incident", "fixed")] == [True, False]
        assert tried.difference == resolve(scenario).difference


class TestSeveral:
    """Each program has what it shares with the main one, and what is its own."""

    @pytest.fixture
    def several(self, scenario: Scenario) -> Scenario:
        content = ProgramSpec.model_validate(
            {
                "run": "pipeline content-enrichment",
                "configuration": {"batch": {"max_offsets": 7}, "sink": {"topic": "content"}},
                "environment": {"MODE": "plain", "LEVEL": "info"},
            }
        )
        arms = arms_of(
            incident={
                "record_limit": {"policy": "none"},
                "programs": {
                    "content": {
                        "configuration": {"record_limit": {"policy": "serialized"}},
                        "environment": {"MODE": "fancy"},
                    }
                },
            },
            fixed={"batch": {"max_offsets": 9}},
        )
        main = ProgramSpec(run="pipeline html-enrichment")
        return scenario.model_copy(update={"programs": {"html": main, "content": content}, "arms": arms})

    def test_what_is_its_own_lies_on_top(self, several: Scenario) -> None:
        content = [several_configuration(several, arm, "content") for arm in ROLES]
        assert [one.sink.topic for one in content] == ["content", "content"]
        assert [one.record_limit.policy for one in content] == ["serialized", "serialized"]
        assert [one.batch.max_offsets for one in content] == [7, 9], "an arm's own lies on top of what both share"
        html = several_configuration(several, "incident", "html")
        assert (html.batch.max_offsets, html.record_limit.policy) == (50, "none")
        assert html.sink.topic != "content"

    def test_so_do_its_variables(self, several: Scenario) -> None:
        arms = resolve(several).arms
        environments = {
            (arm, name): arms[arm].programs[name].launch.variables
            for arm, name in (("incident", "content"), ("fixed", "content"), ("fixed", "html"))
        }
        assert environments == {
            ("incident", "content"): {"MODE": "fancy", "LEVEL": "info"},
            ("fixed", "content"): {"MODE": "plain", "LEVEL": "info"},
            ("fixed", "html"): {},
        }

    def test_the_difference_names_whose_it_is(self, several: Scenario) -> None:
        found = resolve(several).difference
        assert found["record_limit.policy"] == {"incident": "none", "fixed": "serialized"}
        assert found["programs.content.environment.MODE"] == {"incident": "fancy", "fixed": "plain"}
        assert found["programs.content.batch.max_offsets"] == {"incident": 7, "fixed": 9}
        assert "programs.content.record_limit.policy" not in found, "there it is the same in both arms"


class TestDifference:
    def test_is_what_the_arms_have_of_their_own(self, scenario: Scenario) -> None:
        assert resolve(scenario).difference == {
            "content_limit.measure": {"incident": "content_length", "fixed": "decoded"},
            "record_limit.policy": {"incident": "none", "fixed": "serialized"},
        }

    @pytest.mark.parametrize("overlay", [{}, {"sink": {"max.request.size": "2MiB"}}])
    def test_of_equal_arms_is_nothing(self, scenario: Scenario, overlay: dict[str, Any]) -> None:
        same = scenario.model_copy(update={"arms": arms_of(incident=overlay, fixed=overlay)})
        assert resolve(same).difference == {}

    def test_of_an_arm_that_writes_the_default_is_nothing(self, scenario: Scenario) -> None:
        default = {"fetch": {"total_requests": configuration(scenario, "fixed", NOWHERE).fetch.total_requests}}
        same = scenario.model_copy(update={"arms": arms_of(incident=default, fixed={})})
        assert resolve(same).difference == {}

    @given(st.integers(1, 10**6), st.integers(1, 10**6))
    @example(1000, 1000)
    def test_shows_both_values_by_the_names_of_the_file_if_and_only_if_they_differ(
        self, incident: int, fixed: int
    ) -> None:
        scenario = _with_arms({"sink": {"max.request.size": incident}}, {"sink": {"max.request.size": fixed}})
        expected = {} if incident == fixed else {"sink.max.request.size": {"incident": incident, "fixed": fixed}}
        assert resolve(scenario).difference == expected

    def test_has_the_faults_of_the_timeline_that_one_arm_alone_has(self, scenario: Scenario) -> None:
        pause = {"do": {"pause": {"part": "kafka"}}, "at": "3s"}
        items = (
            TimelineItem.model_validate({"name": "still", "arms": ["incident"]} | pause),
            TimelineItem.model_validate({"name": "later", "arms": ["fixed"]} | pause),
            TimelineItem.model_validate({"name": "both"} | pause),
        )
        before = resolve(scenario).difference
        assert resolve(scenario.model_copy(update={"timeline": items})).difference == before | {
            "timeline.still": {"incident": "pause: {part: kafka}, at 3s", "fixed": "not in this arm"},
            "timeline.later": {"incident": "not in this arm", "fixed": "pause: {part: kafka}, at 3s"},
        }


def _with_arms(incident: dict[str, Any], fixed: dict[str, Any]) -> Scenario:
    return Scenario.model_validate(
        {
            "name": "x",
            "title": "x",
            "incident": {"reference": "none"},
            "traffic": {"seed": 1, "rate": "1/s", "for": "1s"},
            "until": {"any": [{"drained": True}], "deadline": "1s"},
            "arms": {"incident": incident, "fixed": fixed},
            "expect": {"incident": [{"restarts": 0}], "fixed": [{"restarts": 0}]},
        }
    )


def test_two_words_of_a_command_line_are_not_one(load: Load) -> None:
    of_arms = "    record_limit: { policy: none }\n  fixed:\n"
    scenario = load((of_arms, f"    arguments: ['a b']\n{of_arms}    arguments: [a, b]\n"))
    assert resolve(scenario).difference["arguments"] == {"incident": "'a b'", "fixed": "a b"}
