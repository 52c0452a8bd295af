from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.rules.matching import REQUEST, TARGET, Matching, Subject, Target
from mockapi.rules.model import Rule
from mockapi.rules.when import When
from mockapi.server.request import Request

PATH = "/w/rest.php/v1/revision/28674/html"
PAGE = Target("enwiki", "Old harbour", 7, 28674)
ENTITY = Target("wikidatawiki", "Property:P31", 31, 126977, "P31")


def subject(
    *targets: Target,
    method: str = "GET",
    path: str = PATH,
    headers: dict[str, str] | None = None,
    client: str = "127.0.0.1",
    attempt: int = 2,
    at_s: float = 4.0,
    key: str = "28674",
    query: str = "",
    body: bytes = b"",
) -> Subject:
    request = Request(method, path, path, query, headers or {"user-agent": "bot/1.0 (x)"}, client, body)
    return Subject(request, targets or (PAGE,), key=key, attempt=attempt, at_s=at_s)


def rule(name: str = "r", **when: Any) -> Rule:
    return Rule.model_validate({"name": name, "when": when, "do": {"status": 404}})


def matches(one: Rule, asked: Subject, *, seed: int = 1) -> bool:
    matching = Matching(one, seed=seed)
    holds = matching.holds(asked)
    assert holds is (not list(matching.mismatches(asked)))
    return holds


def held(share: object, *, seed: int = 1, name: str = "r", pages: int = 2_000, wiki: str = "enwiki") -> set[int]:
    """The pages of a wiki that lie within the share."""
    matching = Matching(rule(name, share=share), seed=seed)
    page_ids = range(1, pages + 1)
    return {one for one in page_ids if matching.holds(subject(Target(wiki, "T", one, one * 4096)))}


def test_every_key_of_when_has_its_matcher_and_nth_is_the_rule_books() -> None:
    assert {*REQUEST, *TARGET, "nth"} == {field.alias or name for name, field in When.model_fields.items()}


HOLDS: dict[str, list[Any]] = {
    "method": ["GET"],
    "path": ["/w/rest.php/*", "*/html", "/w/rest.php/v1/revision/286??/html"],
    "wiki": ["enwiki"],
    "page": ["Old harbour", "Old_harbour"],
    "revision": [28674, [1, 28674]],
    "header": [{"User-Agent": "bot/*"}, {"user-agent": True, "x-absent": False}],
    "client": ["127.0.0.1", "127.0.0.0/8"],
    "attempt": [2, {"at_most": 2}, {"at_least": 2, "every": 3}],
    "probability": ["100%", {"from": "0%", "to": "100%", "over": "4s"}],
    "share": ["100%"],
    "share_of_revisions": ["100%"],
    "window": [{"from": "4s"}, {"from": "3s", "for": "2s"}, {"for": "5s"}],
}
HOLDS_NOT: dict[str, list[Any]] = {
    "method": ["HEAD"],
    "path": ["/w/rest.php", "/W/REST.php/*"],
    "wiki": ["dewiki"],
    "page": ["Old"],
    "revision": [28673, [1, 2]],
    "header": [{"user-agent": "curl/*"}, {"user-agent": False}, {"x-absent": "*"}],
    "client": ["10.0.0.0/8", "::1"],
    "attempt": [1, {"at_most": 1}, {"at_least": 3}, {"every": 2}],
    "probability": [1e-12, {"from": "0%", "to": 1e-12, "over": "4s"}],
    "share": [1e-12],
    "share_of_revisions": [1e-12],
    "window": [{"from": "5s"}, {"for": "4s"}, {"from": "1s", "for": "3s"}],
}
SEVERAL = {"method": "GET", "path": "*", "wiki": "enwiki", "page": "Old harbour"}


def whens(values: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [{key: value} for key, several in values.items() for value in several]


@pytest.mark.parametrize("when", [{}, {**SEVERAL, "revision": 28674}, *whens(HOLDS)], ids=str)
def test_it_matches_when_all_that_is_given_holds(when: dict[str, Any]) -> None:
    assert matches(rule(**when), subject())


def test_it_matches_a_probability_that_has_risen_in_its_window() -> None:
    ramp = {"from": "0%", "to": "100%", "over": "3s"}
    assert matches(rule(window={"from": "1s"}, probability=ramp), subject())


@pytest.mark.parametrize("when", [{**SEVERAL, "revision": 1}, *whens(HOLDS_NOT)], ids=str)
def test_one_thing_that_does_not_hold_is_enough(when: dict[str, Any]) -> None:
    assert not matches(rule(**when), subject())


@pytest.mark.parametrize("key", ["wiki", "page", "revision", "share", "share_of_revisions"])
def test_a_request_without_a_page_matches_no_page(key: str) -> None:
    assert not matches(rule(**{key: HOLDS[key][0]}), subject(Target()))


FORM = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}
MULTIPART = {"content-type": "multipart/form-data; boundary=b"}
PARTS = b'--b\r\nContent-Disposition: form-data; name="action"\r\n\r\nedit\r\n--b--\r\n'
JSON = b'{"source": {"title": "X y"}, "latest": {"id": 5}, "bot": true, "tags": ["a", null], "a/b": 1.5, "no": null}'


@pytest.mark.parametrize(
    ("when", "request_of", "expected"),
    [
        ({"query": {"action": "query"}}, {"query": "action=query&maxlag=5"}, True),
        ({"query": {"titles": "Caf\u00e9 *"}}, {"query": "titles=Caf%C3%A9+1"}, True),
        ({"query": {"maxlag": 5, "assert": False}}, {"query": "action=query&maxlag=5"}, True),
        ({"query": {"a": "2"}}, {"query": "a=1&a=2"}, True),
        ({"query": {"a": "1"}}, {"query": "a=1&a=2"}, False),
        ({"query": {"action": "edit"}}, {"query": "action=query"}, False),
        ({"query": {"action": True}}, {"query": ""}, False),
        ({"query": {"action": "edit"}}, {"headers": FORM, "body": b"action=edit"}, False),
        ({"form": {"action": "edit"}}, {"headers": FORM, "body": b"action=edit&x=%20"}, True),
        ({"form": {"action": "edit", "x": " "}}, {"headers": FORM, "body": b"action=edit&x=%20"}, True),
        ({"form": {"action": "edit"}}, {"headers": MULTIPART, "body": PARTS}, True),
        ({"form": {"action": "edit"}}, {"query": "action=edit", "headers": FORM}, False),
        ({"form": {"action": "edit"}}, {"body": b"action=edit"}, False),
        ({"form": {"action": False}}, {}, True),
        ({"cookie": {"enwiki_session": True, "b": "2*"}}, {"headers": {"cookie": "enwiki_session=x; b=2%33"}}, True),
        ({"cookie": {"enwiki_session": True}}, {"headers": {"cookie": "dewiki_session=x"}}, False),
        ({"cookie": {"a": False}}, {}, True),
        ({"json": {"/source/title": "X *", "/latest/id": 5}}, {"body": JSON}, True),
        ({"json": {"/bot": True, "/tags/1": None, "/a~1b": 1.5}}, {"body": JSON}, True),
        ({"json": {"/no": {"present": True}, "/none": {"present": False}}}, {"body": JSON}, True),
        ({"json": {"/source": {"present": True}, "/tags/2": {"present": False}}}, {"body": JSON}, True),
        ({"json": {"/source/title": "x *"}}, {"body": JSON}, False),
        ({"json": {"/latest/id": "5"}}, {"body": JSON}, False),
        ({"json": {"/bot": 1}}, {"body": JSON}, False),
        ({"json": {"/none": None}}, {"body": JSON}, False),
        ({"json": {"/bot": {"present": False}}}, {"body": JSON}, False),
        ({"json": {"/tags/-1": {"present": True}}}, {"body": JSON}, False),
        ({"json": {"/a": {"present": False}}}, {"body": b"no json"}, False),
        ({"json": {"/a": {"present": False}}}, {}, False),
        ({"json": {"/a": 1}}, {"body": b"[" * 100_000}, False),
    ],
)
def test_parameters_cookies_and_values_of_the_body(
    when: dict[str, Any], request_of: dict[str, Any], expected: bool
) -> None:
    assert matches(rule(**when), subject(**request_of)) is expected


@pytest.mark.parametrize(
    ("when", "request_of", "wanted", "got"),
    [
        ({"query": {"a": "2", "b": True}}, {"query": "a=1"}, "{'a': '2', 'b': True}", "{'a': '1', 'b': None}"),
        ({"form": {"a": "2"}}, {"headers": FORM, "body": b"a=1"}, "{'a': '2'}", "{'a': '1'}"),
        ({"cookie": {"a": "2"}}, {"headers": {"cookie": "a=1"}}, "{'a': '2'}", "{'a': '1'}"),
        ({"json": {"/a/b": "2"}}, {"body": b'{"a": {"b": [1]}}'}, "{'/a/b': '2'}", '{"/a/b": [1]}'),
        ({"json": {"/a": {"present": True}}}, {"body": b"{}"}, "{'/a': {'present': True}}", "{}"),
        ({"json": {"/a": 1}}, {"body": b"a=1"}, "{'/a': 1}", "no JSON body"),
    ],
)
def test_a_mismatch_shows_parameters_cookies_and_values(
    when: dict[str, Any], request_of: dict[str, Any], wanted: str, got: str
) -> None:
    (mismatch,) = Matching(rule(**when), seed=1).mismatches(subject(**request_of))
    assert (mismatch.key, mismatch.wanted, mismatch.got) == (next(iter(when)), wanted, got)


def test_a_long_value_is_shown_in_part() -> None:
    asked = subject(headers=FORM, body=b"text=" + b"x" * 5_000)
    (mismatch,) = Matching(rule(form={"text": "y"}), seed=1).mismatches(asked)
    assert mismatch.got.endswith("xxx\u2026 (5012 characters)")
    assert len(mismatch.got) < 450


@pytest.mark.parametrize(
    "when",
    [{}, {"query": {"a": "1"}}, {"cookie": {"a": False}}, {"method": "PUT", "json": {"/a": 1}, "form": {"a": "1"}}],
)
def test_a_body_is_parsed_only_for_a_rule_that_needs_it(when: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[object] = []
    monkeypatch.setattr("mockapi.rules.contents.body_pairs", lambda request: parsed.append(request) or ())
    monkeypatch.setattr("mockapi.rules.contents.json.loads", parsed.append)
    Matching(rule(**when), seed=1).holds(subject(headers=FORM, query="a=1", body=b"a=1"))
    assert not parsed


def test_one_of_several_targets_must_fit_it_all() -> None:
    both = subject(PAGE, Target("dewiki", "Hafen", 9, 36865))
    assert matches(rule(wiki="dewiki", revision=36865), both)
    assert not matches(rule(wiki="dewiki", revision=28674), both)


def test_a_mismatch_says_what_was_wanted_and_what_the_nearest_target_had() -> None:
    matching = Matching(rule(method="HEAD", page="Old", attempt={"at_least": 3}, wiki="enwiki"), seed=1)
    answer = [(one.key, one.wanted, one.got) for one in matching.mismatches(subject())]
    assert answer == [("method", "HEAD", "GET"), ("attempt", '{"at_least":3}', "2"), ("page", "Old", "Old harbour")]
    matching = Matching(rule(wiki="dewiki", page="Hafen", revision=1), seed=1)
    assert [one.key for one in matching.mismatches(subject(PAGE, Target("dewiki", "Hafen", 9, 36865)))] == ["revision"]


def test_a_probability_is_drawn_for_each_key_and_attempt() -> None:
    matching = Matching(rule(probability="30%"), seed=1)
    asked = [(n, attempt) for n in range(500) for attempt in (1, 2)]
    fits = {(n, attempt) for n, attempt in asked if matching.holds(subject(key=str(n), attempt=attempt))}
    assert len(fits) == pytest.approx(300, abs=4 * (1_000 * 0.3 * 0.7) ** 0.5)
    assert {n for n, attempt in fits if attempt == 1} != {n for n, attempt in fits if attempt == 2}


def test_a_probability_rises_evenly_and_stays() -> None:
    chance = rule(probability={"from": "10%", "to": "90%", "over": "8s"}).when.probability
    assert chance is not None
    assert [round(chance.at(s), 6) for s in (-1, 0, 2, 4, 8, 99)] == [0.1, 0.1, 0.3, 0.5, 0.9, 0.9]


@pytest.mark.parametrize(
    ("after_s", "expected"), [(0, 0), (5, 0), (10, 0.0), (12.5, 0.25), (15, 0.5), (17.5, 0.75), (20, 1), (99, 1)]
)
def test_a_rising_probability_rises_where_the_window_of_its_rule_begins(after_s: float, expected: float) -> None:
    """Counted from when the rule came into force, a minute after the first request. The window is open for all."""
    ramp = rule(window={"from": "10s"}, probability={"from": "0%", "to": "100%", "over": "10s"})
    matching = Matching(ramp, seed=1, from_s=60.0)
    fits = sum(matching.holds(subject(key=str(n), at_s=60.0 + after_s)) for n in range(1_000))
    assert fits == pytest.approx(1_000 * expected, abs=4 * (1_000 * expected * (1 - expected)) ** 0.5)


def test_a_rising_probability_without_a_window_rises_from_when_its_rule_came_into_force() -> None:
    matching = Matching(rule(probability={"from": "20%", "to": "80%", "over": "10s"}), seed=1, from_s=60.0)
    fits = [sum(matching.holds(subject(key=str(n), at_s=60.0 + s)) for n in range(1_000)) for s in (0, 5, 10, 50)]
    assert fits == [pytest.approx(share, abs=64) for share in (200, 500, 800, 800)]


@pytest.mark.parametrize(("share", "pages"), [("1%", 20), ("10%", 200), ("50%", 1_000), ("99%", 1_980)])
def test_a_share_is_that_share_of_the_pages(share: str, pages: int) -> None:
    """2,000 independent draws: within four standard deviations."""
    expected = pages / 2_000
    assert len(held(share)) == pytest.approx(pages, abs=4 * (2_000 * expected * (1 - expected)) ** 0.5)


@given(st.floats(1e-6, 1), st.floats(1e-6, 1), st.integers(0, 2**64))
def test_a_larger_share_has_all_pages_of_a_smaller_one(one: float, other: float, seed: int) -> None:
    smaller, larger = sorted((one, other))
    assert held(smaller, seed=seed, pages=50) <= held(larger, seed=seed, pages=50)


@given(st.integers(1, 10**9), st.integers(0, 4095), st.integers(0, 4095), st.sampled_from([0.01, 0.5, 0.99]))
def test_all_revisions_of_a_page_are_alike(page_id: int, n: int, other: int, share: float) -> None:
    matching = Matching(rule(share=share), seed=1)
    first = subject(Target("enwiki", "T", page_id, page_id * 4096 + n), path="/a", at_s=0.0)
    second = subject(Target("enwiki", "Moved", page_id, page_id * 4096 + other), method="HEAD", path="/b", at_s=9.0)
    assert matching.holds(first) is matching.holds(second)


def test_seed_rule_name_and_wiki_each_choose_other_pages() -> None:
    chosen = [held("20%"), held("20%", seed=2), held("20%", name="other"), held("20%", wiki="dewiki")]
    assert len({frozenset(pages) for pages in chosen}) == 4
    assert held("20%") == held(0.2)


@pytest.mark.parametrize(("wanted", "holds"), [("P31", True), (["Q42", "P31"], True), ("Q31", False), ("P3", False)])
def test_an_entity_is_matched_by_its_id_where_its_data_are_asked_for(wanted: object, holds: bool) -> None:
    assert matches(rule(entity=wanted), subject(ENTITY)) is holds
    assert not matches(rule(entity=wanted), subject(PAGE))
