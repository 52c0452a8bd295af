from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockapi.rules.matching import Subject, matches, matching
from mockapi.rules.model import Rule

SUBJECT = Subject("GET", "/w/rest.php/v1/revision/28674/html", "enwiki", "Old harbour", 28674, 7, at_s=4.0)
ELSEWHERE = Subject("GET", "/w/api.php", None, None, None)


def rule(name: str = "r", **when: Any) -> Rule:
    return Rule.model_validate({"name": name, "when": when, "do": {"status": 404}})


def held(share: object, *, seed: int = 1, name: str = "r", pages: int = 2_000, wiki: str = "enwiki") -> set[int]:
    """The pages of a wiki that lie within the share."""
    one = rule(name, share=share)
    return {
        page_id
        for page_id in range(1, pages + 1)
        if matches(one, Subject("GET", "/p", wiki, "T", page_id * 4096, page_id), seed=seed)
    }


@pytest.mark.parametrize(
    "when",
    [
        {},
        {"method": "GET"},
        {"path": "/w/rest.php/*"},
        {"path": "*/html"},
        {"path": "/w/rest.php/v1/revision/286??/html"},
        {"wiki": "enwiki"},
        {"page": "Old harbour"},
        {"page": "Old_harbour"},
        {"revision": 28674},
        {"share": "100%"},
        {"window": {"from": "4s"}},
        {"window": {"from": "3s", "for": "2s"}},
        {"window": {"for": "5s"}},
        {"method": "GET", "path": "*", "wiki": "enwiki", "page": "Old harbour", "revision": 28674},
    ],
)
def test_it_matches_when_all_that_is_given_holds(when: dict[str, Any]) -> None:
    assert matches(rule(**when), SUBJECT, seed=1)


@pytest.mark.parametrize(
    "when",
    [
        {"method": "HEAD"},
        {"path": "/w/rest.php"},
        {"path": "/W/REST.php/*"},
        {"wiki": "dewiki"},
        {"page": "Old"},
        {"revision": 28673},
        {"share": 1e-12},
        {"window": {"from": "5s"}},
        {"window": {"for": "4s"}},
        {"window": {"from": "1s", "for": "3s"}},
        {"method": "GET", "path": "*", "wiki": "enwiki", "page": "Old harbour", "revision": 1},
    ],
)
def test_one_thing_that_does_not_hold_is_enough(when: dict[str, Any]) -> None:
    assert not matches(rule(**when), SUBJECT, seed=1)


@pytest.mark.parametrize("when", [{"wiki": "enwiki"}, {"page": "Old harbour"}, {"revision": 28674}, {"share": "100%"}])
def test_a_request_without_a_page_matches_no_page(when: dict[str, Any]) -> None:
    assert not matches(rule(**when), ELSEWHERE, seed=1)


def test_all_that_match_apply_in_order() -> None:
    rules = [rule("b"), rule("no", wiki="dewiki"), rule("a", page="Old harbour")]
    assert [one.name for one in matching(rules, SUBJECT, seed=1)] == ["b", "a"]


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
    first, second = (
        Subject(method, path, "enwiki", title, page_id * 4096 + number, page_id, at_s=at_s)
        for method, path, title, number, at_s in [("GET", "/a", "T", n, 0.0), ("HEAD", "/b", "Moved", other, 9.0)]
    )
    assert matches(rule(share=share), first, seed=1) is matches(rule(share=share), second, seed=1)


def test_seed_rule_name_and_wiki_each_choose_other_pages() -> None:
    chosen = [held("20%"), held("20%", seed=2), held("20%", name="other"), held("20%", wiki="dewiki")]
    assert len({frozenset(pages) for pages in chosen}) == 4
    assert held("20%") == held(0.2)
