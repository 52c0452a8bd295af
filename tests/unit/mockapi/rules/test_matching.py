from typing import Any

import pytest

from mockapi.rules.matching import Subject, matches, matching
from mockapi.rules.model import Rule, When

SUBJECT = Subject("GET", "/w/rest.php/v1/revision/28674/html", "enwiki", "Old harbour", 28674)
ELSEWHERE = Subject("GET", "/w/api.php", None, None, None)


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
        {"method": "GET", "path": "*", "wiki": "enwiki", "page": "Old harbour", "revision": 28674},
    ],
)
def test_it_matches_when_all_that_is_given_holds(when: dict[str, Any]) -> None:
    assert matches(When.model_validate(when), SUBJECT)


@pytest.mark.parametrize(
    "when",
    [
        {"method": "HEAD"},
        {"path": "/w/rest.php"},
        {"path": "/W/REST.php/*"},
        {"wiki": "dewiki"},
        {"page": "Old"},
        {"revision": 28673},
        {"method": "GET", "path": "*", "wiki": "enwiki", "page": "Old harbour", "revision": 1},
    ],
)
def test_one_thing_that_does_not_hold_is_enough(when: dict[str, Any]) -> None:
    assert not matches(When.model_validate(when), SUBJECT)


@pytest.mark.parametrize("when", [{"wiki": "enwiki"}, {"page": "Old harbour"}, {"revision": 28674}])
def test_a_request_without_a_page_matches_no_page(when: dict[str, Any]) -> None:
    assert not matches(When.model_validate(when), ELSEWHERE)


def test_all_that_match_apply_in_order() -> None:
    rules = [
        Rule.model_validate({"name": name, "when": when, "do": {"status": 404}})
        for name, when in [("b", {}), ("no", {"wiki": "dewiki"}), ("a", {"page": "Old harbour"})]
    ]
    assert [rule.name for rule in matching(rules, SUBJECT)] == ["b", "a"]
