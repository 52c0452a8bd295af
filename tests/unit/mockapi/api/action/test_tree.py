import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.api.action.result import ApiResult, old_style
from mockapi.api.action.tree import Always, Content, Numbered, Record, Tree, size, to_json

LEAVES = st.none() | st.integers(-(2**53), 2**53) | st.text(max_size=8)
NAMES = st.text("ab*é", max_size=2)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, min_size=1, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("tree", "first", "second"),
    [
        ({"a": True, "b": False}, '{"a":""}', '{"a":true,"b":false}'),
        ({"a": Always(False)}, '{"a":false}', '{"a":false}'),
        ({"x": Content("t"), "y": 1}, '{"y":1,"*":"t"}', '{"x":"t","y":1}'),
        ({"a": {}}, '{"a":[]}', '{"a":[]}'),
        ({"a": {"b": False}}, '{"a":[]}', '{"a":{"b":false}}'),
        ({"a": Record({})}, '{"a":{}}', '{"a":{}}'),
        ({}, "{}", "{}"),
        ({"a": Numbered({7: "x"})}, '{"a":{"7":"x"}}', '{"a":{"7":"x"}}'),
        ({"a": Numbered({0: "x"})}, '{"a":["x"]}', '{"a":["x"]}'),
        ({"a": Numbered({1: "y", -1: "x"})}, '{"a":["x","y"]}', '{"a":["x","y"]}'),
        ({"a": Numbered({7: "x", -1: "y"}, modern="list")}, '{"a":{"7":"x","-1":"y"}}', '{"a":["y","x"]}'),
        ({"a": Numbered({0: "x"}, modern="object")}, '{"a":["x"]}', '{"a":{"0":"x"}}'),
        ({"a": Numbered({})}, '{"a":[]}', '{"a":[]}'),
        ({"a": ["é/😀\u2028\x7f"]}, r'{"a":["\u00e9/\ud83d\ude00\u2028' + '\x7f"]}', '{"a":["é/😀\\u2028\x7f"]}'),
        ({"a": 7.25, "b": None}, '{"a":7.25,"b":null}', '{"a":7.25,"b":null}'),
    ],
)
def test_each_version_has_its_spelling(tree: Any, first: str, second: str) -> None:
    assert to_json(tree, version=1, ascii_only=True).decode() == first
    assert to_json(tree, version=2, ascii_only=False).decode() == second


@given(st.dictionaries(NAMES, TREES, min_size=1, max_size=3))
def test_all_spellings_of_a_tree_mean_the_same(tree: dict[str, Tree]) -> None:
    spellings = [to_json(tree, version=version, ascii_only=ascii_only) for version in (1, 2) for ascii_only in (0, 1)]
    assert [json.loads(spelling) for spelling in spellings] == [tree] * 4
    assert spellings[1].isascii()


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ("é", 2),
        (-12, 3),
        (True, 1),
        (False, 0),
        (None, 0),
        (Content("abc"), 3),
        (Always(True), 1),
        ({"long name": "ab", "x": ["c", 1]}, 4),
        (Numbered({1000: "ab"}), 2),
        (Record({"a": "b"}), 1),
    ],
)
def test_size_counts_values_and_no_names(tree: Any, expected: int) -> None:
    assert size(tree) == expected


def names(result: ApiResult) -> list[str]:
    return list(result.tree(old_style))


def test_members_stand_in_the_order_of_their_coming() -> None:
    result = ApiResult()
    result.add("query", {})
    result.add("limits", {})
    result.add_on_top("continue", {})
    result.add_on_top("batchcomplete", True)
    assert names(result) == ["batchcomplete", "continue", "query", "limits"]


def test_warnings_precede_what_was_there() -> None:
    result = ApiResult()
    result.add("query", {})
    result.warn("query", "x", "text")
    assert names(result) == ["warnings", "query"]
    result.add_on_top("batchcomplete", True)
    assert names(result) == ["batchcomplete", "warnings", "query"]
    result = ApiResult()
    result.add_on_top("batchcomplete", True)
    result.warn("main", "x", "text")
    assert names(result) == ["warnings", "batchcomplete"]


def test_an_error_in_place_of_the_result_keeps_the_warnings() -> None:
    result = ApiResult()
    result.add("query", {})
    result.warn("main", "x", "text")
    result.clear()
    result.add_on_top("error", {})
    result.add("requestid", "7")
    assert names(result) == ["error", "warnings", "requestid"]


def test_the_module_that_warned_last_is_named_first_and_each_text_said_once() -> None:
    result = ApiResult()
    for module, text in [("query+info", "a"), ("query+info", "b"), ("query+info", "a"), ("main", "c")]:
        result.warn(module, "code", text)
    answer = old_style(result.warnings)
    assert isinstance(answer, dict)
    assert list(answer.items()) == [("main", {"warnings": Content("c")}), ("info", {"warnings": Content("a\nb")})]


def test_a_deprecation_says_where_to_read_on() -> None:
    result = ApiResult()
    result.deprecate("login", "old", "feature")
    codes = [("login", "deprecation"), ("main", "deprecation-help")]
    assert [(one.module, one.code) for one in result.warnings] == codes


def test_what_does_not_fit_is_not_counted() -> None:
    result = ApiResult(limit=10)
    assert result.fits("x" * 6)
    assert not result.fits("x" * 5)
    assert result.fits("x" * 4)
    text = "This result was truncated because it would otherwise be larger than the limit of 10 bytes."
    assert [one.english for one in result.warnings] == [text]
