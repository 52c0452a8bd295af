import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.api.rest.envelope import json_text
from mockapi.api.rest.errors import RestError
from mockapi.api.rest.parameters import flavor_parameter, integer, parse_query, query_text
from mockapi.api.rest.path import clean, page_path, relative, segment
from mockapi.wiki.pages.flavor import FLAVORS

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="[]. "), min_size=1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("+07", 7),
        ("-7", -7),
        (str(2**63 - 1), 2**63 - 1),
        (str(2**63), None),
        ("7.0", None),
        ("", None),
        ("٣", None),
        (" 7", None),
        ("0" * 40 + "7", 7),
    ],
)
def test_integers_have_64_bits(text: str, value: int | None) -> None:
    assert integer(text) == value


@pytest.mark.parametrize(
    ("query", "again"),
    [
        ("", ""),
        ("a=1&a=2", "?a=2"),
        ("a", "?a="),
        ("a.b=1&c d=2", "?a_b=1&c_d=2"),
        ("x[]=1&x[]=2&x[k]=3", "?x%5B0%5D=1&x%5B1%5D=2&x%5Bk%5D=3"),
        ("a=%C3%A4+b~", "?a=%C3%A4+b%7E"),
        ("=1", ""),
    ],
)
def test_a_query_is_read_and_written_as_php_does(query: str, again: str) -> None:
    assert query_text(parse_query(query)) == again


@given(st.dictionaries(NAMES, TEXTS))
def test_what_is_written_is_read_again(parameters: dict[str, str]) -> None:
    assert dict(parse_query(query_text(parameters)[1:])) == parameters


@pytest.mark.parametrize("value", ["true", "T", "yes", "on", "1"])
def test_stash_goes_before_flavor(value: str) -> None:
    assert flavor_parameter({"stash": value, "flavor": "edit"}) == "stash"


@given(TEXTS.filter(lambda text: text not in FLAVORS))
def test_any_other_flavor_is_refused(text: str) -> None:
    with pytest.raises(RestError, match="Unrecognized value") as refused:
        flavor_parameter({"flavor": text})
    assert (refused.value.code, refused.value.key) == (400, "badvalue")


TITLES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(TITLES)
def test_a_title_comes_back_from_its_path(title: str) -> None:
    place = page_path("v1", title, "html")
    inside = relative(place)
    assert inside is not None
    assert inside.count("/") == 4
    assert segment(inside.split("/")[3]) == clean(title)


def test_only_what_is_below_the_root_is_the_apis_and_what_cannot_be_read_is_marked() -> None:
    segments = {"A%00b": "A\ufffdb", "%E0b": "\ufffdb", quote("A\u030a"): "Å", "a+b": "a+b"}
    assert {sent: segment(sent) for sent in segments} == segments
    paths = {"/w/rest.php": "", "/w/rest.phpx": None, "/W/rest.php/v1": None}
    assert {path: relative(path) for path in paths} == paths


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"]))
    )
)
def test_json_is_compact_and_says_the_same(fields: dict[str, str]) -> None:
    text = json_text(fields)
    assert json.loads(text) == fields
    assert "\u2028".encode() not in text


def test_json_is_as_php_writes_it() -> None:
    assert json_text({"a/b": 'ä\u2028\x01\n"'}) == '{"a/b":"ä\\u2028\\u0001\\n\\""}'.encode()


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/w/rest.php/v1/revision", "/v1/revision"),
        ("/w/rest.php/v1/page/A/", "/v1/page/A/"),
        ("/w/rest.php/v1/page/A/b/html", "/v1/page/A/b/html"),
        ("/w/rest.php/v1/p%61ge/A", "/v1/p%61ge/A"),
        ("/w/rest.php/v2/page/A", "/v2/page/A"),
        ("/w/rest.php/content/v1/pages/A", "/pages/A"),
        ("/w/rest.php/content/v3/page/A", "/content/v3/page/A"),
        ("/w/rest.php/", "/"),
        ("/wiki/Old_harbour", "/wiki/Old_harbour"),
    ],
)
def test_a_path_without_a_handler_is_named(wiki: Any, path: str, named: str) -> None:
    answer = wiki.ask(path, headers={"x-restbase-compat": "true"})
    text = f"The requested relative path ({named}) did not match any known handler"
    assert (answer.status, answer.json["errorKey"], answer.json["detail"]) == (404, "rest-no-match", text)


def test_the_root_lacks_its_slash(wiki: Any) -> None:
    answer = wiki.ask("/w/rest.php?x=1")
    assert (answer.status, answer["location"], answer["content-length"]) == (308, "/w/rest.php/", None)
