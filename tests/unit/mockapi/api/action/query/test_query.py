from typing import Any

import pytest


@pytest.mark.parametrize("group", ["prop", "list", "meta"])
def test_a_module_that_there_is_not_is_a_warning(api: Any, group: str) -> None:
    answer = api.get(action="query", **{group: "bogus"}).json
    assert answer["warnings"] == {"query": {"warnings": f'Unrecognized value for parameter "{group}": bogus'}}


def test_modules_tell_in_the_order_in_which_they_are_named(api: Any) -> None:
    answer = api.query(prop="revisions|info", meta="userinfo|siteinfo", titles="Old harbour", rvprop="ids")
    assert list(answer) == ["pages", "userinfo", "general"]
    assert list(answer["pages"][0])[3:5] == ["revisions", "contentmodel"]


def test_numbers_of_the_nodes_are_told_when_asked_for(api: Any) -> None:
    assert api.query(titles="Old harbour|Nope", indexpageids=1)["pageids"] == ["-1", "1"]


def walk(api: Any, **parameters: Any) -> list[Any]:
    """All answers, each asked for as the one before says."""
    answers, more = [], {"continue": ""}
    while more:
        answers.append(api.get(action="query", **parameters, **more).json)
        more = answers[-1].get("continue", {})
        assert len(answers) < 20
    return answers


def test_a_client_that_goes_on_gets_all_once(api: Any) -> None:
    answers = walk(api, prop="revisions|info", meta="userinfo", titles="Old harbour", rvlimit=1, rvprop="ids")
    assert [answer["query"]["pages"][0]["revisions"][0]["revid"] for answer in answers] == [4099, 4098, 4097]
    assert ["contentmodel" in answer["query"]["pages"][0] for answer in answers] == [True, False, False]
    assert ["userinfo" in answer["query"] for answer in answers] == [True, False, False]
    assert ["batchcomplete" in answer for answer in answers] == [False, False, True]
    assert answers[0]["continue"] == {"rvcontinue": "20260302050607|4098", "continue": "||info|userinfo"}


def test_modules_about_pages_are_over_after_a_dash(api: Any) -> None:
    answer = api.get(action="query", prop="info", meta="userinfo", titles="Old harbour", **{"continue": "-||"}).json
    assert list(answer["query"]) == ["userinfo"]


def test_the_older_way_to_go_on(api: Any) -> None:
    answer = api.get(action="query", prop="revisions", titles="Old harbour", rvlimit=1, rawcontinue=1).json
    assert answer["query-continue"] == {"revisions": {"rvcontinue": "20260302050607|4098"}}
    assert "batchcomplete" not in answer


def test_what_does_not_fit_is_left_for_the_next_answer(make_api: Any, make_page: Any) -> None:
    big = "x" * 1_900_000
    api = make_api(make_page(50, "Big", *[big] * 6))
    answers = walk(
        api, prop="revisions", revids="|".join(str(50 * 4096 + n) for n in range(1, 7)), rvprop="content|ids"
    )
    revisions = [[one["revid"] % 4096 for one in answer["query"]["pages"][0]["revisions"]] for answer in answers]
    assert revisions == [[1, 2, 3, 4], [5, 6]]
    assert answers[0]["continue"]["rvcontinue"] == 50 * 4096 + 5
    assert "larger than the limit of 8,388,608 bytes" in answers[0]["warnings"]["result"]["warnings"]


def test_pages_that_do_not_fit_have_no_revisions_yet(make_api: Any, make_page: Any) -> None:
    api = make_api(*(make_page(number, f"Big {number}", "x" * 1_900_000) for number in range(50, 56)))
    titles = "|".join(f"Big {number}" for number in range(50, 56))
    answers = walk(api, prop="revisions", titles=titles, rvprop="content", rvslots="main")
    counts = [[len(page.get("revisions", "none")) for page in answer["query"]["pages"]] for answer in answers]
    assert counts == [[1, 1, 1, 1, 0, 4], [4, 4, 4, 4, 1, 1]]
