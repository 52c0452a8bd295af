"""Small texts of messages: counts, near misses, differing keys and what a parameter may be."""

from datetime import timedelta
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from located_config.count import counted, times
from located_config.dotted_keys import differing
from located_config.duration import Duration
from located_config.near import near_miss, nearest
from located_config.parameter import Parameter, parameters_of
from located_config.schema import AsWritten


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 faults"), (1, "1 fault"), (2, "2 faults"), (1024, "1,024 faults"), (-1, "-1 faults")]
)
def test_a_number_with_its_noun(count: int, text: str) -> None:
    assert counted(count, "fault") == text


def test_another_plural() -> None:
    assert (counted(1, "entry", "entries"), counted(3, "entry", "entries")) == ("1 entry", "3 entries")


@pytest.mark.parametrize(("count", "text"), [(0, "0 times"), (1, "once"), (2, "twice"), (3, "3 times")])
def test_how_often(count: int, text: str) -> None:
    assert times(count) == text


@pytest.mark.parametrize(
    ("name", "known", "message"),
    [
        ("sise", ["size", "status"], "did you mean 'size'?"),
        ("zzz", ["size", "status"], "there are: size, status"),
        ("zzz", [], "there are: none"),
        ("unknown_while", ["not_found_grace", "unknown"], "did you mean 'not_found_grace'?"),
        ("unknown_while", ["size"], "there are: size"),
    ],
)
def test_near_miss(name: str, known: list[str], message: str) -> None:
    assert near_miss(name, iter(known)) == message


def test_how_much_alike_is_for_the_caller_to_say() -> None:
    assert nearest("abxx", ["abcd"], like=0.5) == "abcd"
    assert nearest("abxx", ["abcd"], like=0.6) is None


LEAVES = st.one_of(st.integers(0, 2), st.none(), st.lists(st.integers(0, 1), max_size=1))
TREES = st.dictionaries(
    st.sampled_from("abc"), st.recursive(LEAVES, lambda one: st.dictionaries(st.sampled_from("abc"), one)), max_size=3
)


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ({"a": {"b": 1}}, {"a": {"b": 1}}, []),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, [(("a", "b"), 1, None), (("a", "c"), 2, 3)]),
        ({"a": {"b": 1}}, {"a": 5}, [(("a",), {"b": 1}, 5)]),
        ({"a": {"b": 1}}, {}, [(("a",), {"b": 1}, None)]),
        ({"a": [1]}, {"a": [1, 2]}, [(("a",), [1], [1, 2])]),
        ({"a.b": 1}, {"a.b": 2}, [(("a.b",), 1, 2)]),
    ],
)
def test_keys_differ_down_to_single_values(one: dict[str, Any], other: dict[str, Any], found: list[Any]) -> None:
    walked = differing({"incident": one, "fixed": other})
    assert [(place, values["incident"], values["fixed"]) for place, values in walked] == found


def test_what_is_missing_may_be_looked_into() -> None:
    trees: dict[str, Any] = {"x": {"a": {"b": 1}}, "y": {}}
    walked = differing(trees, missing="no", is_open=lambda one: one == "no" or isinstance(one, dict))
    assert list(walked) == [(("a", "b"), {"x": 1, "y": "no"})]


@given(one=TREES, other=TREES)
def test_the_differing_keys_are_all_that_has_to_be_changed(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Put into the one, the values of the other make them alike, but for keys that say nothing."""
    for place, values in differing({"one": one, "other": other}):
        assert values["one"] != values["other"]
        inside: Any = one
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = values["other"]
    assert meaning(one) == meaning(other)


def meaning(tree: Any) -> Any:
    """Without the keys whose value is None or a mapping of nothing else."""
    if not isinstance(tree, dict):
        return tree
    inside = {key: meaning(value) for key, value in tree.items()}
    return {key: value for key, value in inside.items() if value not in (None, {})} or None


class Wait(BaseModel):
    time: Duration = Field(description="Time that passes.")
    jitter: Duration = timedelta(seconds=2)
    by: Literal["client"] | None = None


def test_a_parameter_says_what_it_may_be_whether_it_is_required_and_what_it_means() -> None:
    schema = Wait.model_json_schema(schema_generator=AsWritten)
    assert list(parameters_of(schema, {})) == [
        Parameter("time", "duration", required=True, default="", description="Time that passes."),
        Parameter("jitter", "duration", required=False, default="2s", description=""),
        Parameter("by", '"client"', required=False, default="", description=""),
    ]
