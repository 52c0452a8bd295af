"""How settings lie on top of each other."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from devkit.programs.places import merge

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


def _leaves(tree: dict[str, Any], path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    leaves: list[tuple[tuple[str, ...], Any]] = []
    for key, value in tree.items():
        leaves += _leaves(value, (*path, key)) if isinstance(value, dict) else [((*path, key), value)]
    return leaves


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
