from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from devkit.scenario.configure import (
    CONFIG,
    GIVEN_BY_STACK,
    NOWHERE,
    Places,
    config_difference,
    configuration,
    merge,
    raw_configuration,
    tried_configuration,
)
from devkit.scenario.model import Arms, Scenario, TriedFirst

PLACES = Places("127.0.0.1:9092", "http://127.0.0.1:8080", "http://127.0.0.1:9000", "s3a://checkpoints/x", "claims")

keys = st.sampled_from("abcd")
leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.lists(st.integers(), max_size=2))
trees = st.recursive(
    st.dictionaries(keys, leaves, max_size=3), lambda inner: st.dictionaries(keys, inner | leaves, max_size=3)
).filter(lambda tree: isinstance(tree, dict))


class TestMerge:
    @given(trees)
    def test_with_nothing_is_itself(self, base: dict[str, Any]) -> None:
        assert merge(base, {}) == base
        assert merge({}, base) == base

    @given(trees)
    def test_with_itself_is_itself(self, base: dict[str, Any]) -> None:
        assert merge(base, base) == base

    @given(trees, trees, trees)
    def test_order_of_merging_does_not_matter_where_mappings_meet(
        self, low: dict[str, Any], middle: dict[str, Any], high: dict[str, Any]
    ) -> None:
        """Associative but for a leaf between two mappings, which hides the lower one."""
        if not _leaf_between(low, middle, high):
            assert merge(merge(low, middle), high) == merge(low, merge(middle, high))

    @given(trees, trees)
    def test_each_leaf_of_the_overlay_stands(self, base: dict[str, Any], overlay: dict[str, Any]) -> None:
        merged = merge(base, overlay)
        assert all(_at(merged, path) == value for path, value in _leaves(overlay))

    @given(trees, trees)
    def test_neither_side_is_changed(self, base: dict[str, Any], overlay: dict[str, Any]) -> None:
        before = repr((base, overlay))
        merge(base, overlay)
        assert repr((base, overlay)) == before

    def test_mapping_by_mapping(self) -> None:
        assert merge({"a": {"x": 1, "y": 2}, "b": 3}, {"a": {"y": 4}, "c": {}}) == {
            "a": {"x": 1, "y": 4},
            "b": 3,
            "c": {},
        }


class TestConfiguration:
    def test_is_what_both_share_and_the_arm_and_the_places(self, scenario: Scenario) -> None:
        config = configuration(scenario, "incident", PLACES)
        assert config.batch.max_offsets == 50
        assert config.content_limit.measure == "content_length"
        assert config.record_limit.policy == "none"
        assert config.source.bootstrap_servers == config.sink.bootstrap_servers == "127.0.0.1:9092"
        assert config.mediawiki.endpoint == "http://127.0.0.1:8080"
        assert config.mediawiki.wikis == {"enwiki": "en.wikipedia.org"}
        assert config.checkpoint == "s3a://checkpoints/x"
        assert (config.claim_check.endpoint, config.claim_check.bucket) == ("http://127.0.0.1:9000", "claims")

    def test_every_place_is_a_key_that_a_scenario_may_not_set(self, scenario: Scenario) -> None:
        raw = raw_configuration(scenario, "incident", PLACES)
        filled = {path for path, value in _leaves(raw) if value in vars(PLACES).values()}
        assert filled == set(GIVEN_BY_STACK)

    def test_a_section_that_is_no_mapping_is_not_hidden_by_what_the_stack_gives(self, scenario: Scenario) -> None:
        wrong = scenario.model_copy(update={"pipeline": {"sink": 5}})
        with pytest.raises(ValidationError, match="sink"):
            configuration(wrong, "incident", PLACES)

    def test_reads_back_as_it_is_written_for_the_pipeline(self, scenario: Scenario) -> None:
        config = configuration(scenario, "fixed", PLACES)
        assert CONFIG.validate_python(CONFIG.dump_python(config, mode="json", by_alias=True)) == config


class TestTriedFirst:
    def test_is_on_top_of_the_arm_and_has_a_checkpoint_of_its_own(self, scenario: Scenario) -> None:
        tried = TriedFirst(incident={"batch": {"max_offsets": 7}})
        config = tried_configuration(scenario.model_copy(update={"tried_first": tried}), "incident", PLACES)
        arm = configuration(scenario, "incident", PLACES)
        assert config is not None
        assert config.checkpoint == f"{arm.checkpoint}-tried-first"
        assert config.batch.max_offsets == 7
        assert config.model_copy(update={"batch": arm.batch, "checkpoint": arm.checkpoint}) == arm

    def test_is_of_one_arm_only(self, scenario: Scenario) -> None:
        tried = scenario.model_copy(update={"tried_first": TriedFirst(fixed={})})
        assert tried_configuration(tried, "incident", PLACES) is None
        assert tried_configuration(tried, "fixed", PLACES) is not None

    def test_says_nothing_of_the_difference(self, scenario: Scenario) -> None:
        tried = TriedFirst(fixed={"batch": {"max_offsets": 7}})
        assert config_difference(scenario.model_copy(update={"tried_first": tried})) == config_difference(scenario)


class TestDifference:
    def test_is_what_the_arms_have_of_their_own(self, scenario: Scenario) -> None:
        assert config_difference(scenario) == {
            "content_limit.measure": {"incident": "content_length", "fixed": "decoded"},
            "record_limit.policy": {"incident": "none", "fixed": "serialized"},
        }

    @pytest.mark.parametrize("overlay", [{}, {"batch": {"max_offsets": 7}}, {"sink": {"max.request.size": "2MiB"}}])
    def test_of_equal_arms_is_nothing(self, scenario: Scenario, overlay: dict[str, Any]) -> None:
        same = scenario.model_copy(update={"arms": Arms(incident=overlay, fixed=overlay)})
        assert config_difference(same) == {}

    def test_of_an_arm_that_writes_the_default_is_nothing(self, scenario: Scenario) -> None:
        default = configuration(scenario, "fixed", NOWHERE).fetch.total_requests
        overlay = {"fetch": {"total_requests": default}}
        same = scenario.model_copy(update={"arms": Arms(incident=overlay, fixed={})})
        assert config_difference(same) == {}

    @given(st.integers(1, 10**6), st.integers(1, 10**6))
    def test_shows_both_values_if_and_only_if_they_differ(self, incident: int, fixed: int) -> None:
        scenario = _with_arms({"batch": {"max_offsets": incident}}, {"batch": {"max_offsets": fixed}})
        expected = {} if incident == fixed else {"batch.max_offsets": {"incident": incident, "fixed": fixed}}
        assert config_difference(scenario) == expected

    def test_uses_the_names_of_the_file(self) -> None:
        scenario = _with_arms({"sink": {"max.request.size": 1000}}, {"sink": {"max.request.size": 2000}})
        assert config_difference(scenario) == {"sink.max.request.size": {"incident": 1000, "fixed": 2000}}


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


def _leaves(tree: dict[str, Any], path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, value in tree.items():
        found += _leaves(value, (*path, key)) if isinstance(value, dict) else [((*path, key), value)]
    return found


def _at(tree: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def _leaf_between(low: Any, middle: Any, high: Any) -> bool:
    if isinstance(low, dict) and isinstance(high, dict) and not isinstance(middle, dict):
        return True
    if not (isinstance(low, dict) and isinstance(middle, dict) and isinstance(high, dict)):
        return False
    return any(_leaf_between(low[key], middle[key], high[key]) for key in low.keys() & middle.keys() & high.keys())
