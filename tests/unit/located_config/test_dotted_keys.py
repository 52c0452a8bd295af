from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from located_config.dotted_keys import differing

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
def test_down_to_single_values(one: dict[str, Any], other: dict[str, Any], found: list[Any]) -> None:
    walked = differing({"incident": one, "fixed": other})
    assert [(place, values["incident"], values["fixed"]) for place, values in walked] == found


def test_what_is_missing_may_be_looked_into() -> None:
    walked = differing(
        {"x": {"a": {"b": 1}}, "y": {}}, missing="no", is_open=lambda one: one == "no" or isinstance(one, dict)
    )
    assert list(walked) == [(("a", "b"), {"x": 1, "y": "no"})]


@given(one=TREES, other=TREES)
def test_what_it_finds_is_all_that_has_to_be_changed(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Put into the one, the values of the other make them alike, but for keys that say nothing."""
    for place, values in differing({"one": one, "other": other}):
        assert values["one"] != values["other"]
        inside = one
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
