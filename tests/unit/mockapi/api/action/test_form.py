from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.api.action.form import Form, read_form
from mockapi.api.action.targets import subjects
from mockapi.rules.matching import Target
from mockapi.server.request import Request

URLENCODED = "application/x-www-form-urlencoded"
NAMES = st.text("abcdefgxyz", min_size=1, max_size=8)
VALUES = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=30)
HARBOUR = {"wiki": "enwiki", "page": "Old harbour", "page_id": 1}


def form(query: str = "", *, method: str = "GET", body: bytes = b"", content_type: str = "") -> Form:
    return read_form(Request(method, "/", "/", query, {"content-type": content_type}, "", body))


@pytest.mark.parametrize(
    ("query", "values"),
    [
        ("", {}),
        ("a=1&b=2", {"a": "1", "b": "2"}),
        ("a=1&a=2", {"a": "2"}),
        ("a", {"a": ""}),
        ("a=b=c&&=x", {"a": "b=c"}),
        ("a=x+y%20z%2B", {"a": "x y z+"}),
        ("my.name=1&other%20one=2", {"my_name": "1", "other_one": "2"}),
        ("a=%C3%A9", {"a": "é"}),
        ("a=e%CC%81", {"a": "é"}),
        ("a=%FF", {"a": "ÿ"}),
        ("a=x%00y%01", {"a": "x\ufffdy\ufffd"}),
        ("a=x%0Ay", {"a": "x\ny"}),
        ("a=%1Fx%1Fy%00", {"a": "\x1fx\x1fy\ufffd"}),
    ],
)
def test_values_are_read_as_php_and_mediawiki_read_them(query: str, values: dict[str, str]) -> None:
    assert form(query).values == values


def test_what_was_mended_is_kept_as_sent_until_a_clean_one_follows() -> None:
    assert form("a=e%CC%81&b=x&c=%FF").mended == {"a": "e%CC%81", "c": "%FF"}
    assert form("a=%FF&a=x").mended == {}


def test_brackets_make_an_array_which_has_no_value() -> None:
    read = form("titles[]=a&titles[]=b&x=1")
    assert (read.values, read.arrays, read.names) == ({"x": "1"}, {"titles"}, ("x", "titles"))


def test_the_body_wins_over_the_query_string() -> None:
    read = form("a=1&b=2", method="POST", body=b"a=3&c=4", content_type=URLENCODED)
    assert read.values == {"a": "3", "b": "2", "c": "4"}
    assert read.in_query == {"a", "b"}
    assert read.posted


@pytest.mark.parametrize(("method", "content_type"), [("GET", URLENCODED), ("POST", "application/json"), ("POST", "")])
def test_other_bodies_say_nothing(method: str, content_type: str) -> None:
    assert form("a=1", method=method, body=b"a=3", content_type=content_type).values == {"a": "1"}


def multipart(parts: dict[str, Any]) -> bytes:
    part = '--line\r\nContent-Disposition: form-data; name="{}"\r\n\r\n{}\r\n'
    return ("".join(part.format(*pair) for pair in parts.items()) + "--line--\r\n").encode()


def test_an_upload_is_no_parameter() -> None:
    body = (
        b'--line\r\nContent-Disposition: form-data; name="a"; filename="x.txt"\r\n\r\nfile\r\n'
        b'--line\r\nContent-Disposition: form-data; name="b"\r\n\r\n\xc3\xa9\r\n--line--\r\n'
    )
    assert form(method="POST", body=body, content_type="multipart/form-data; boundary=line").values == {"b": "é"}


@pytest.mark.parametrize("content_type", ["multipart/form-data", "multipart/form-data; boundary=other"])
def test_a_body_that_is_not_what_it_says_is_no_form(content_type: str) -> None:
    assert form(method="POST", body=multipart({"a": "1"}), content_type=content_type).values == {}


@given(st.dictionaries(NAMES, VALUES, max_size=5))
def test_both_kinds_of_body_say_the_same(values: dict[str, str]) -> None:
    plain = form(method="POST", body=urlencode(values).encode(), content_type=URLENCODED)
    parts = form(method="POST", body=multipart(values), content_type="multipart/form-data; boundary=line")
    assert plain.values == parts.values == values


@given(st.binary(max_size=80), st.sampled_from([URLENCODED, "multipart/form-data; boundary=a"]))
def test_no_body_is_too_bad_to_be_read(body: bytes, content_type: str) -> None:
    for name, value in form(method="POST", body=body, content_type=content_type).values.items():
        assert (name + value).encode()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("action=query", [Target("enwiki")]),
        ("revids=4098|99999", [Target(**HARBOUR, revision=4098), Target("enwiki", revision=99999)]),
        ("revids=x|-1", [Target("enwiki", revision=-1)]),
        ("revids=" + "9" * 5000, [Target("enwiki")]),
        (
            "titles=old_harbour|Nope|%3C",
            [Target(**HARBOUR, revision=4099), Target("enwiki", "Nope"), Target("enwiki", "<")],
        ),
        ("title=Old harbour&text=x", [Target(**HARBOUR, revision=4099)]),
        ("pageids=1|88", [Target(**HARBOUR, revision=4099), Target("enwiki", page_id=88)]),
        ("revids=20481", [Target("enwiki", revision=20481)]),
    ],
)
def test_every_revision_and_page_that_is_named(api: Any, query: str, expected: list[Target]) -> None:
    form = read_form(Request("GET", "/w/api.php", "/w/api.php", query.replace(" ", "+"), {}, ""))
    assert list(subjects(api.world.wikis.by_name("enwiki"), form)) == expected


def test_no_more_than_the_largest_limit(api: Any) -> None:
    query = "revids=" + "|".join(map(str, range(600)))
    form = read_form(Request("GET", "/w/api.php", "/w/api.php", query, {}, ""))
    assert len(subjects(api.world.wikis.by_name("enwiki"), form)) == 500


def test_a_rule_for_one_page_of_several_is_a_fault_of_the_answer(make_api: Any) -> None:
    api = make_api(rules=({"name": "down", "when": {"page": "Old harbour"}, "do": {"status": 503}},))
    assert api.get(action="query", titles="Generated|Old harbour").status == 503
    assert api.get(action="query", titles="Generated").status == 200
