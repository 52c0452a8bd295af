from typing import Any

import pytest

from mockapi.api.action.form import read_form
from mockapi.api.action.targets import subjects
from mockapi.rules.matching import Target
from mockapi.server.request import Request

HARBOUR = {"wiki": "enwiki", "page": "Old harbour", "page_id": 1}


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
